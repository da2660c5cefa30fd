import type { Phase } from '../telemetry';

/** A step with those that were done within it. */
export interface StepTree {
  readonly step: Phase;
  readonly within: readonly StepTree[];
}

/** The steps as a tree. They come in the order of their ends, so that those within another come before it. */
export function nested(steps: readonly Phase[]): readonly StepTree[] {
  const trees: StepTree[] = [];
  for (const step of steps) {
    const first = trees.findIndex((tree) => tree.step.began >= step.began);
    const within = first === -1 ? [] : trees.splice(first);
    trees.push({ step, within });
  }
  return trees;
}
