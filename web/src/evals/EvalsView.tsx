export default function EvalsView(_: Record<string, string | null>) { return <main />; }
