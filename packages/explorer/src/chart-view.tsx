import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';

import { chart, chartShown } from './chart';
import type { Chart, Series, TimeChart } from './chart-of';
import { tickText } from './histogram/buckets';
import type { Zone } from './time-range';
import { change, type ChartForm, search } from './search';
import { theme } from './theme';
import { firstOf } from './visible-text';

const HEIGHT = 220;

/** A result with times or categories as a picture; the rows are below it. */
export function ChartView() {
  const known = chart.value;
  if (known === null || !chartShown.value) return null;
  return (
    <section class="chart" aria-label="Chart">
      {known.kind === 'times' ? <OverTime known={known} /> : <Bars known={known} />}
    </section>
  );
}

const FORMS: readonly (readonly [ChartForm, string])[] = [
  ['lines', 'Lines'],
  ['stacked', 'Stacked bars'],
];

function OverTime({ known }: { readonly known: TimeChart }) {
  const chosen = search.value.chart ?? (known.isGrouped ? 'stacked' : 'lines');
  const canStack = known.series.every(({ values }) => values.every((value) => value === null || value >= 0));
  return (
    <>
      {canStack && (
        <div class="forms" role="group" aria-label="Form of the chart">
          {FORMS.map(([form, label]) => (
            <button key={form} type="button" aria-pressed={form === chosen} onClick={() => change({ chart: form })}>
              {label}
            </button>
          ))}
        </div>
      )}
      <Plotted known={known} stacked={canStack && chosen === 'stacked'} />
    </>
  );
}

function Plotted({ known, stacked }: { readonly known: TimeChart; readonly stacked: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const { zone } = search.value;
  const shade = theme.value;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let plot: uPlot | null = null;
    let gone = false;
    const watch = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    void import('uplot').then(({ default: Plot }) => {
      if (gone) return;
      // As it is in the scheme of the page.
      const colour = (name: string): string => {
        element.style.color = `var(${name})`;
        return getComputedStyle(element).color;
      };
      const shades = shadesOf(known.series, colour);
      const axis = {
        stroke: colour('--quiet'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { stroke: colour('--line'), width: 1 },
      };
      plot = new Plot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          tzDate: (seconds) =>
            zone === 'utc' ? Plot.tzDate(new Date(seconds * 1000), 'UTC') : new Date(seconds * 1000),
          axes: [{ ...axis, values: (_plot, ticks) => timesOf(ticks, zone) }, axis],
          ...(stacked ? { scales: scalesOf(known.times) } : {}),
          series: [
            {},
            ...known.series.map(({ name, values }, i) => ({
              label: firstOf(name, 60),
              stroke: shades[i]!,
              // Of a stack the numbers are the series' own, not the heights.
              value: (_plot: uPlot, _height: number, _series: number, at: number | null) =>
                at === null ? '--' : (values[at]?.toLocaleString('en') ?? '--'),
              ...(stacked
                ? { fill: shades[i]!, width: 0, points: { show: false }, paths: bars(Plot) }
                : // A line of one point is nothing without its point.
                  { width: 1.5, points: { show: known.times.length < 30 } }),
            })),
          ],
        },
        [[...known.times], ...(stacked ? stackOf(known.series) : known.series.map(({ values }) => [...values]))],
        element,
      );
      watch.observe(element);
    });
    return () => {
      gone = true;
      watch.disconnect();
      plot?.destroy();
    };
  }, [known, stacked, zone, shade]);
  const names = known.series.map(({ name }) => name).join(', ');
  return (
    <div ref={box} class="lines" role="img" aria-label={`${names} over time: the numbers are in the rows below`} />
  );
}

/** The colour of each series: of what it means, several of one meaning in shades; else one after the other. */
function shadesOf(series: readonly Series[], colour: (name: string) => string): string[] {
  const seen = new Map<string, number>();
  return series.map(({ severity }, i) => {
    if (severity === null) return colour(`--series-${i + 1}`);
    const before = seen.get(severity) ?? 0;
    seen.set(severity, before + 1);
    const mark = colour(`--${severity}-mark`);
    return before === 0 ? mark : `color-mix(in srgb, ${mark} ${Math.max(30, 100 - 22 * before)}%, ${colour('--text')})`;
  });
}

/** Bars stand on zero, and the outermost are whole. */
function scalesOf(times: readonly number[]): uPlot.Scales {
  const least = times
    .slice(1)
    .reduce((best, at, i) => (at > times[i]! ? Math.min(best, at - times[i]!) : best), Infinity);
  // A single bar is a minute wide.
  const half = (least === Infinity ? 60 : least) / 2;
  return {
    x: { range: (_plot, first, last) => [first - half, last + half] },
    y: { range: (_plot, _least, most) => [0, most * 1.05] },
  };
}

/** Each nine tenths of its place, and no wider than 60 pixels. */
function bars({ paths }: typeof uPlot): uPlot.Series.PathBuilder {
  return paths.bars!({ size: [0.9, 60] });
}

/** Heights of bars that are drawn over each other: of each series and all behind it. */
function stackOf(series: readonly Series[]): number[][] {
  const heights: number[][] = [];
  for (const { values } of [...series].reverse())
    heights.unshift(values.map((value, at) => (value ?? 0) + (heights[0]?.[at] ?? 0)));
  return heights;
}

/** Ticks of the axis, in seconds, as text. */
function timesOf(ticks: readonly number[], zone: Zone): string[] {
  const distance = ((ticks[1] ?? 0) - (ticks[0] ?? 0)) * 1000;
  return ticks.map((at) => tickText(at * 1000, distance, zone));
}

function Bars({ known }: { readonly known: Extract<Chart, { kind: 'bars' }> }) {
  const { category, measure, bars } = known;
  const highest = Math.max(1e-9, ...bars.map(({ value }) => Math.abs(value)));
  return (
    <ul class="categories" aria-label={`${measure} by ${category}`}>
      {bars.map(({ label, value, severity }, i) => (
        <li key={i}>
          <bdi>{firstOf(label, 60)}</bdi>
          <div class="track" aria-hidden="true">
            <span class={severity ?? ''} style={{ width: `${(100 * Math.abs(value)) / highest}%` }} />
          </div>
          <span class="count">{value.toLocaleString('en')}</span>
        </li>
      ))}
    </ul>
  );
}
