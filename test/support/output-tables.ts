import type { TestService } from './test-service.js';

/** Moves the parts of a request's output to a partition of an hour ago, as if they had been emitted then. */
export async function ageOutput({ query }: TestService, id: string): Promise<void> {
  const [part] = await query<{ name: string; start: string; end: string }>(
    `SELECT 'output_delta_' || to_char(start AT TIME ZONE 'UTC', 'YYYYMMDDHH24MI') AS name, start::text,
            (start + interval '10 minutes')::text AS end
     FROM date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch') AS start`,
  );
  const { name, start, end } = part!;
  await query(
    `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF output_delta FOR VALUES FROM ('${start}') TO ('${end}')`,
  );
  await query(`UPDATE output_delta SET at = $2 WHERE request_id = $1`, [id, start]);
  await query(`UPDATE request SET started_at = $2 WHERE id = $1`, [id, start]);
}
