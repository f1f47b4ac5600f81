import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Reason } from '../api/types';
import { Dialog } from './dialog';
import { ReasonField, reasonIn } from './reason-field';
import { ActButton } from './rights';
import { Failure } from './states';

interface ConfirmedActionProps {
  /** The label of the button that opens the dialog. */
  label: string;
  className?: string;
  title: string;
  /** What the action does. */
  children: ReactNode;
  /** The label of the button that acts. */
  verb: string;
  isDanger?: boolean;
  /** The label of the button that closes the dialog. */
  back?: string;
  act: (reason: Reason) => Promise<unknown>;
  /** Called after the action has succeeded, even if the dialog was closed meanwhile. */
  onDone: () => unknown;
}

/**
 * A button that asks for confirmation and a reason before it acts. The dialog shows the error, because it covers the
 * page. The next dialog gets neither its error nor its reason.
 */
export function ConfirmedAction({ label, className, act, onDone, ...dialog }: ConfirmedActionProps) {
  const [isOpen, setOpen] = useState(false);
  const acting = useMutation({
    mutationFn: (reason: Reason) => act(reason),
    onSuccess: () => {
      setOpen(false);
      return onDone();
    },
  });
  const { error } = acting;
  const show = (isShown: boolean): void => {
    if (error !== null) acting.reset();
    setOpen(isShown);
  };
  return (
    <>
      <ActButton className={className} onClick={() => show(true)}>
        {label}
      </ActButton>
      {isOpen ? (
        <Confirmation
          {...dialog}
          error={error}
          isPending={acting.isPending}
          onConfirm={acting.mutate}
          onClose={() => show(false)}
        />
      ) : (
        error !== null && <Failure error={error} />
      )}
    </>
  );
}

interface ConfirmationProps extends Pick<
  ConfirmedActionProps,
  'title' | 'children' | 'verb' | 'isDanger' | 'back'
> {
  error: Error | null;
  isPending: boolean;
  onConfirm: (reason: Reason) => void;
  onClose: () => void;
}

function Confirmation({
  title,
  children,
  verb,
  isDanger = false,
  back = 'Go back',
  error,
  isPending,
  onConfirm,
  onClose,
}: ConfirmationProps) {
  const [reason, setReason] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <ReasonField value={reason} onChange={setReason} />
      {error !== null && <Failure error={error} />}
      <div className="buttons">
        <button type="button" onClick={onClose}>
          {back}
        </button>
        <ActButton
          className={isDanger ? 'primary danger' : 'primary'}
          disabled={isPending}
          onClick={() => onConfirm(reasonIn(reason))}
        >
          {verb}
        </ActButton>
      </div>
    </Dialog>
  );
}
