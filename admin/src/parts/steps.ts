/** When, in milliseconds, and how many. */
export type Point = [at: number, value: number];
interface Frame { from: number; to: number; most: number; width: number; height: number }

/** A line that stays where it is until the next point, as the path of an SVG: before the first there was nothing. */
export function steps(points: readonly Point[], { from, to, most, width, height }: Frame): string {
  const x = (at: number) => (((Math.max(from, at) - from) / (to - from)) * width).toFixed(1);
  // A line's own width stays within the picture.
  const y = (value: number) => (height - 1 - (value / most) * (height - 2)).toFixed(1);
  return `M0 ${y(0)}` + points.map(([at, value]) => `H${x(at)}V${y(value)}`).join("") + `H${width}`;
}
