interface ReasonFieldProps {
  value: string;
  onChange: (value: string) => void;
}

/** An optional reason, which the audit records. */
export function ReasonField({ value, onChange }: ReasonFieldProps) {
  return (
    <label className="field">
      <span>
        Reason <span className="muted">(optional, for the audit)</span>
      </span>
      <input type="text" maxLength={500} value={value} onChange={({ target }) => onChange(target.value)} />
    </label>
  );
}

/** The reason as a member of a body. */
export const reasonIn = (value: string): { reason?: string } =>
  value.trim() === '' ? {} : { reason: value.trim() };
