/** Where a request stands: lower priority first, then lower seq. */
export interface Place {
  modelId: string;
  priority: number;
  seq: number;
}
