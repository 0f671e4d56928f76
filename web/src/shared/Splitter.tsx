interface Props {
  label: string;
  value: number;
  min: number;
  max: number;
  /** +1 when dragging to the right makes the pane wider, -1 when narrower. */
  direction: 1 | -1;
  onChange: (value: number) => void;
}

/** A border between panes that can be dragged, or moved by arrow keys. */
export function Splitter({ label, value, min, max, direction, onChange }: Props) {
  const clamp = (width: number) => onChange(Math.round(Math.min(max, Math.max(min, width))));

  function onPointerDown(event: React.PointerEvent<HTMLDivElement>) {
    const startX = event.clientX;
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => clamp(value + direction * (moved.clientX - startX));
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), {
      once: true,
    });
  }

  function onKeyDown(event: React.KeyboardEvent) {
    const step = event.key === "ArrowRight" ? 24 : event.key === "ArrowLeft" ? -24 : 0;
    if (!step) return;
    event.preventDefault();
    clamp(value + direction * step);
  }

  return (
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
