export interface Workload {
  slots: number;
}

export const workloads: Record<string, Workload>;
