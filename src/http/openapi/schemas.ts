/* Parts of the description of a property. */

export const count = { type: 'integer', minimum: 0 } as const;
export const countOrNull = { ...count, nullable: true } as const;
export const textOrNull = { type: String, nullable: true } as const;
export const idOrNull = { ...textOrNull, format: 'uuid' } as const;
export const time = { type: String, format: 'date-time' } as const;
export const timeOrNull = { ...time, nullable: true } as const;

export const exampleTime = '2026-03-01T12:00:00.000Z';
