export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden>
      <rect width="24" height="24" rx="6.5" />
      <path d="M5.6 17.6 12 5.6l6.4 12" />
      <path className="tick" d="m8.9 13.7 2.5 2.6 4-5" />
    </svg>
  );
}
