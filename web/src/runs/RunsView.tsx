export default function RunsView(_: Record<string, string | null>) { return <main />; }
