import { Component, type ReactNode } from 'react';
import { Failure } from './states';

interface State {
  error?: unknown;
}

/** A view that breaks, or whose script is gone since the service was updated, says so; the others stay within reach. */
export class ViewBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = {};

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main className="page">
        <h1>This view could not be shown</h1>
        <p>If the service was updated a moment ago, loading the page again is enough.</p>
        <Failure error={error} onRetry={() => window.location.reload()} />
      </main>
    );
  }
}
