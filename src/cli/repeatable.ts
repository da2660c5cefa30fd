import { Option } from 'commander';

/** An option that may be given several times, each with one value: `--pin a=1 --pin b=2`. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(
    (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value],
  );
}
