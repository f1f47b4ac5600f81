import type { Scene } from './scene.js';

/** A radius at which the smooth count and the stripes have settled. */
const escapeSquared = 1e6;

/** The result of following one point through z → z² + c. The fields are valid until the next call. */
export class Orbit {
  escaped = false;
  /** Iterations until the escape, with a smooth fraction. */
  count = 0;
  /** The mean of sin 4φ over the orbit, 0 to 1. It draws silky stripes across the rings. */
  stripe = 0;
  /** The slope of the surface of counts, as a unit vector. */
  slopeX = 0;
  slopeY = 0;
  nearest = 0;

  constructor(
    private readonly julia: Scene['julia'],
    private readonly steps: number,
  ) {}

  follow(pointX: number, pointY: number): void {
    const [cx, cy] = this.julia ?? [pointX, pointY];
    const growth = this.julia === undefined ? 1 : 0;
    let [x, y] = this.julia === undefined ? [0, 0] : [pointX, pointY];
    // The derivative of z with respect to the point, for the slope.
    let dx = 1 - growth;
    let dy = 0;
    let sum = 0;
    let before = 0;
    let nearest = Infinity;
    for (let n = 0; n < this.steps; n += 1) {
      const nextDx = 2 * (x * dx - y * dy) + growth;
      dy = 2 * (x * dy + y * dx);
      dx = nextDx;
      const nextX = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = nextX;
      const r2 = x * x + y * y;
      before = sum;
      if (r2 > 0) sum += 0.5 + (2 * x * y * (x * x - y * y)) / (r2 * r2);
      if (r2 < nearest) nearest = r2;
      if (r2 <= escapeSquared) continue;
      const fraction = 1 - Math.log2(Math.log(r2) / Math.log(escapeSquared));
      this.escaped = true;
      this.count = n + fraction;
      this.stripe = (n > 0 ? before / n : 0) * (1 - fraction) + (sum / (n + 1)) * fraction;
      // z / z' points up the slope.
      const slopeX = x * dx + y * dy;
      const slopeY = y * dx - x * dy;
      const length = Math.hypot(slopeX, slopeY) || 1;
      this.slopeX = slopeX / length;
      this.slopeY = slopeY / length;
      return;
    }
    this.escaped = false;
    this.nearest = Math.sqrt(nearest);
  }
}
