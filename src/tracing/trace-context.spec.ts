import { fromSpanContext, toSpanContext, traceContextOf } from './trace-context.js';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const traceparent = `00-${traceId}-${spanId}-01`;

test('a valid trace context of a caller is used unchanged', () => {
  expect(traceContextOf({ traceparent })).toEqual({ traceparent });
  const tracestate = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE';
  const context = traceContextOf({ traceparent, tracestate })!;
  expect(context).toEqual({ traceparent, tracestate });
  expect(fromSpanContext(toSpanContext(context))).toEqual(context);
});

test.each([
  ['none', undefined],
  ['an empty one', ''],
  ['capital letters', traceparent.toUpperCase()],
  ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['a version that never is', `ff-${traceId}-${spanId}-01`],
  ['more than its version has', `${traceparent}-00`],
  ['too short', traceparent.slice(0, -1)],
  ['two', `${traceparent}, ${traceparent}`],
  ['a line', `${traceparent}\r\nx-api-key: 1`],
  ['a list', [traceparent]],
])('a traceparent is ignored, together with its tracestate: %s', (_, value) =>
  expect(traceContextOf({ traceparent: value, tracestate: 'a=1' })).toBeUndefined(),
);

test('a future version is read as far as its format is known', () => {
  const context = { traceparent };
  expect(traceContextOf({ traceparent: `cc-${traceId}-${spanId}-fd-what-else` })).toEqual(context);
  expect(traceContextOf({ traceparent: `cc-${traceId}-${spanId}-01` })).toEqual(context);
  expect(traceContextOf({ traceparent: `cc-${traceId}-${spanId}-01x` })).toBeUndefined();
});

test.each([
  ['what is no state', 'no state', undefined],
  ['entries that are none', 'a=1,=2,B=3,c', 'a=1'],
  ['a state that is too long', `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=${'x'.repeat(200)}`, undefined],
  ['nothing', '', undefined],
])('the readable part of the tracestate is retained: %s', (_, tracestate, kept) =>
  expect(traceContextOf({ traceparent, tracestate })?.tracestate).toBe(kept),
);

test('an invalid trace id yields no context', () =>
  expect(fromSpanContext({ traceId: '0'.repeat(32), spanId, traceFlags: 1 })).toBeUndefined());
