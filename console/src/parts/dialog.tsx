import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface DialogProps {
  title: string;
  isWide?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Rendered while it is open. Escape or a click outside closes it. */
export function Dialog({ title, isWide = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A dialog that is closed before it leaves the page returns the focus to where it was.
  useLayoutEffect(() => {
    const dialog = element.current!;
    if (!dialog.open) dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    // A click outside is for the pointer only. The keyboard has Escape.
    <dialog
      ref={element}
      className={isWide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        const { left, right, top, bottom } = event.currentTarget.getBoundingClientRect();
        const { clientX: x, clientY: y } = event;
        const isKeyboard = x === 0 && y === 0;
        if (
          !isKeyboard &&
          event.target === event.currentTarget &&
          (x < left || x > right || y < top || y > bottom)
        )
          onClose();
      }}
    >
      <div className="body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
