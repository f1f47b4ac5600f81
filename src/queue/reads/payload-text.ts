/** A statement about many requests reads a compressed payload up to this size: its text may be much longer. */
const maxCompressedBytes = 16 * 1024;
/** `pg_column_size` counts up to this many bytes more than the text has. */
const headerBytes = 4;

/**
 * SQL for the JSON text of a payload of at most `maxBytes`, in a statement about many requests. null: there is none, it
 * is larger, or it is compressed and may be much larger. The sizes are known without reading the payload.
 */
export const textUpTo = (maxBytes: number | string, payload: string): string => `CASE
         WHEN pg_column_size(${payload}) <= CASE
           WHEN pg_column_compression(${payload}) IS NULL THEN ${maxBytes} + ${headerBytes} ELSE ${maxCompressedBytes}
         END THEN CASE WHEN octet_length(${payload}::text) <= ${maxBytes} THEN ${payload}::text END
       END`;
