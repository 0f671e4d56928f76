export default function SettingsView(_: Record<string, string | null>) { return <main />; }
