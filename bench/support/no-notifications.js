/** Loaded into a service process, which then assumes that it is the only one, and so publishes nothing. */
const { Cluster } = await import(process.env.BENCH_CLUSTER_MODULE);
if (!('hasPeers' in Cluster.prototype)) throw new Error('Cluster has no hasPeers to switch off');
Object.defineProperty(Cluster.prototype, 'hasPeers', { get: () => false });
