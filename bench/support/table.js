const head = ['scene', 'figure', 'value', 'against', 'its value', 'ratio', 'bar', 'met'];

/**
 * @param {{ number: number, name: string, rows: import('./rows.js').Row[] }[]} results
 * @returns {string}
 */
export function table(results) {
  const lines = results.flatMap(({ number, name, rows }) =>
    rows.map((row) => [
      `${number} ${name}`,
      row.figure,
      digits(row.value),
      row.against ?? '',
      row.base === undefined ? '' : digits(row.base),
      row.ratio === undefined ? '' : ratioText(row),
      row.bar ?? '',
      row.met === undefined ? '' : row.met ? 'yes' : 'NO',
    ]),
  );
  const widths = head.map((title, column) =>
    Math.max(...[head, ...lines].map((line) => line[column].length)),
  );
  const write = (line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  const notes = results.flatMap(({ number, name, rows }) =>
    rows.filter(({ note }) => note).map(({ figure, note }) => `${number} ${name}, ${figure}: ${note}`),
  );
  return [write(head), write(widths.map((width) => '-'.repeat(width))), ...lines.map(write), ...notes].join(
    '\n',
  );
}

function ratioText({ ratio, error }) {
  const text = `${ratio.toFixed(2)} ×`;
  return Number.isFinite(error) ? `${text} ± ${error.toFixed(2)}` : text;
}

/** @param {number} value null if it was NaN and passed through JSON */
export function digits(value) {
  if (value === null || !Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
