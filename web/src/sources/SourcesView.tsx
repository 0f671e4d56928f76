export default function SourcesView(_: Record<string, string | null>) { return <main />; }
