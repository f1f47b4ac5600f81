// A process that imports this before its own code has a machine whose clock is CLOCK_AHEAD_MS ahead.
const RealDate = Date;
const aheadMs = Number(process.env['CLOCK_AHEAD_MS']);
const now = () => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
