/** Makes the rounds of duties that come every ten or twenty minutes come every ten or twenty seconds. */
const rare = { fromMs: 400_000, toMs: 1_500_000 };
const factor = 60;

globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
  apply: (target, self, [work, ms, ...rest]: [() => void, number, ...unknown[]]) => {
    const isRare = ms >= rare.fromMs && ms <= rare.toMs;
    return Reflect.apply(target, self, [work, isRare ? ms / factor : ms, ...rest]) as unknown;
  },
});
