import { Component, type ReactNode } from 'react';
import { Failure } from './states';

interface Props {
  path: string;
  children: ReactNode;
}

interface State {
  path?: string;
  error?: unknown;
}

/** Shows a message for a view that fails, or whose script was deleted by an update. The other views stay usable. */
export class ViewBoundary extends Component<Props, State> {
  override state: State = {};

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  /** Clears an error when the path changes. */
  static getDerivedStateFromProps({ path }: Props, state: State): State | null {
    return path === state.path ? null : { path, error: undefined };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main className="page">
        <h1>This view could not be shown</h1>
        <p>If the service was just updated, reload the page.</p>
        <Failure error={error} onRetry={() => window.location.reload()} />
      </main>
    );
  }
}
