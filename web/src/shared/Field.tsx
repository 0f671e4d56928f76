import { type LucideIcon, Search } from "lucide-react";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  icon?: LucideIcon;
  className?: string;
}

export function SearchField({ label, value, onChange, icon: Icon = Search, className = "" }: Props) {
  return (
    <label className={`field ${className}`}>
      <Icon className="i i-s" aria-hidden />
      <input
        type="search"
        placeholder={label}
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
