import type { ReactNode } from "react";

/** One subject of a page: a title, what it means, and a box. */
export function Subject({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  return (
    <section className="subject" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {about && <p>{about}</p>}
      </header>
      {children}
    </section>
  );
}
