import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';

import { chart, chartShown } from './chart';
import type { Chart } from './chart-of';
import { tickText } from './histogram/buckets';
import type { Zone } from './instant';
import { search } from './search';
import { theme } from './theme';
import { firstOf } from './visible-text';

const HEIGHT = 220;

/** A result with times or categories as a picture; the rows are below it. */
export function ChartView() {
  const known = chart.value;
  if (known === null || !chartShown.value) return null;
  return (
    <section class="chart" aria-label="Chart">
      {known.kind === 'lines' ? <Lines known={known} /> : <Bars known={known} />}
    </section>
  );
}

function Lines({ known }: { readonly known: Extract<Chart, { kind: 'lines' }> }) {
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
      const colours = getComputedStyle(element);
      const colour = (name: string): string => colours.getPropertyValue(name).trim();
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
          series: [
            {},
            ...known.series.map(({ name }, i) => ({
              label: firstOf(name, 60),
              stroke: colour(`--series-${i + 1}`),
              width: 1.5,
              // A line of one point is nothing without its point.
              points: { show: known.times.length < 30 },
            })),
          ],
        },
        [[...known.times], ...known.series.map(({ values }) => [...values])],
        element,
      );
      watch.observe(element);
    });
    return () => {
      gone = true;
      watch.disconnect();
      plot?.destroy();
    };
  }, [known, zone, shade]);
  const names = known.series.map(({ name }) => name).join(', ');
  return (
    <div ref={box} class="lines" role="img" aria-label={`${names} over time: the numbers are in the rows below`} />
  );
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
      {bars.map(({ label, value }, i) => (
        <li key={i}>
          <bdi>{firstOf(label, 60)}</bdi>
          <div class="track" aria-hidden="true">
            <span style={{ width: `${(100 * Math.abs(value)) / highest}%` }} />
          </div>
          <span class="count">{value.toLocaleString('en')}</span>
        </li>
      ))}
    </ul>
  );
}
