import { Component, type ReactNode } from "react";
import { Notice } from "../shared/Notice";

/** Shows an error in place of a view that cannot be drawn; the rest of the page keeps working. */
export class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    const again = (
      <button type="button" className="btn primary small" onClick={() => location.reload()}>
        Load the page again
      </button>
    );
    return (
      <main className="view-wait broken">
        <Notice tone="error" title="This view could not be shown." actions={again}>
          <p>Your questions and answers are kept on the server.</p>
        </Notice>
      </main>
    );
  }
}
