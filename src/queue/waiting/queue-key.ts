/** Orders the waiting requests of a model: lower priority first, then lower seq. */
export interface QueueKey {
  modelId: string;
  priority: number;
  seq: number;
}
