import type { AdminModel } from '../api/types';
import { whole } from '../format/quantities';

export function plateState({ availability, running, waiting }: AdminModel): string {
  if (availability !== 'available') return availability;
  return running + waiting === 0 ? 'quiet' : 'serving';
}

/** The number display. Changed digits are animated. */
export function Plate({ value, label, state }: { value: number; label: string; state: string }) {
  const text = whole(value);
  return (
    <div className="plate" data-state={state}>
      <span className={text.length > 6 ? 'numeral long' : 'numeral'}>
        {[...text].map((digit, i) => (
          <span key={`${i - text.length} ${digit}`} className={digit === '\u202f' ? 'gap' : 'ticked'}>
            {digit}
          </span>
        ))}
      </span>
      <small>{label}</small>
    </div>
  );
}

/** Shows each slot, up to 16. */
export function Slots({ running, slots }: { running: number; slots: number | null }) {
  if (slots === null || slots > 16) return null;
  return (
    <span className="slots" aria-hidden="true">
      {Array.from({ length: slots }, (_, i) => (
        <i key={i} className={i < running ? 'on' : undefined} />
      ))}
    </span>
  );
}
