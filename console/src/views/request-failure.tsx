import type { AdminRequest } from '../api/types';

const maxDetails = 20_000;

/** Shows why a request failed: the code, the message, and the answer of the model's server. */
export function RequestFailure({ error }: { error: NonNullable<AdminRequest['error']> }) {
  const { code, message, details } = error;
  return (
    <>
      <p className="notice bad">
        <span>
          <code>{code}</code> {message}
        </span>
      </p>
      {details !== undefined && (
        <pre tabIndex={0}>{JSON.stringify(details, null, 2).slice(0, maxDetails)}</pre>
      )}
    </>
  );
}
