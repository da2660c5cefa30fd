/** Every page for people, held to what there is: files, scripts, settings, dependencies. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { OF_A_STACK, SETTINGS } from '../../src/config';
import { findFunction } from '../../packages/googlesql/src/functions/catalogue';

const ROOT = path.join(__dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const MANIFEST = JSON.parse(read('package.json')) as Manifest;
/** What is made, not written. */
const GENERATED = new Set(['node_modules', 'dist', 'coverage', '.data', '.git']);

/** The files below a folder, by their paths from the root. */
function filesIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (GENERATED.has(entry.name)) return [];
    const place = path.posix.join(folder, entry.name);
    return entry.isDirectory() ? filesIn(place) : [place];
  });
}

const FILES = filesIn('.');
const PAGES = FILES.filter((file) => file.endsWith('.md'));

/** First words of setting names: an unknown name that begins like a setting misleads readers. */
const SIGNS: ReadonlySet<string> = new Set(OF_A_STACK);
const FAMILIES = new Set(
  Object.keys(SETTINGS).flatMap((name) => (name.includes('_') ? [name.replace(/_.*/, '')] : [])),
);

/** The history names what was there then. */
const HISTORY = 'CHANGELOG.md';

/** The anchors of a page's headings, as forges make them. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** Whether a path, or its end, is that of a file. */
const isSource = (name: string): boolean => FILES.some((file) => `/${file}`.endsWith(`/${name.replace(/^\.\//, '')}`));

describe.each(PAGES.filter((page) => page !== HISTORY))('%s', (page) => {
  const text = read(page);

  it('links to files and headings that there are', () => {
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      expect([link, existsSync(path.join(ROOT, target))]).toEqual([link, true]);
      if (anchor !== undefined) expect([link, anchorsOf(target)]).toEqual([link, expect.arrayContaining([anchor])]);
    }
  });

  it('names sources that there are', () => {
    const named = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !isSource(name))).toEqual([]);
  });

  it('names scripts that there are', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z][a-z:]*)/g)].map(([, script]) => script);
    expect(named.filter((script) => !Object.keys(MANIFEST.scripts).includes(script ?? ''))).toEqual([]);
  });

  it('names settings that there are', () => {
    const named = [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name]) => name ?? '');
    const known = (name: string): boolean => name in SETTINGS || SIGNS.has(name) || findFunction(name) !== undefined;
    const unknown = named.filter((name) => FAMILIES.has(name.replace(/_.*/, '')) && !known(name));
    expect(unknown).toEqual([]);
  });
});

it('comments name sources that there are', () => {
  const sources = FILES.filter((file) => /^(?:src|packages\/[^/]+\/src)\/.*\.tsx?$/.test(file));
  const named = sources.flatMap((file) =>
    [...read(file).matchAll(/(?:^\s*\*|\/\*\*|\/\/ ).*/gm)].flatMap(([comment]) =>
      [...comment.matchAll(/(?<![\w./-])[\w./-]+\.tsx?\b/g)].map(([name]) => name),
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !isSource(name))).toEqual([]);
});

it('the code names pages that there are', () => {
  const sources = FILES.filter((file) =>
    /^(?:src|(?:packages\/[^/]+\/)?(?:src|test)|bench|emulator)\/.*\.[jt]sx?$/.test(file),
  );
  const named = sources.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w./-]+\.(?:md|yml|json)\b/g)].map(([name]) => name),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
});

it('the code reads no variable that is not among the settings', () => {
  const sources = FILES.filter((file) => /^(?:src|packages\/[^/]+\/src)\/.*\.(ts|js)$/.test(file))
    .map(read)
    .join('\n');
  const named = [...sources.matchAll(/\b(?:env|environment)(?:\.|\[')([A-Z][A-Z0-9_]*)/g)].map(
    ([, name]) => name ?? '',
  );
  // Node's own: the size of its pool, set where nobody has, and whether somebody has chosen a young generation.
  const others = new Set(named.filter((name) => !(name in SETTINGS)));
  expect([...others].sort()).toEqual(['NODE_OPTIONS', 'UV_THREADPOOL_SIZE']);
  expect(named.length).toBeGreaterThan(3);
});

it('CHANGELOG.md begins with the version of the package', () => {
  expect(/^## (\S+),/m.exec(read('CHANGELOG.md'))?.[1]).toBe(MANIFEST.version);
});

it('packages have the version of the service, and need each other in it', () => {
  const manifests = FILES.filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file)).map(
    (file) => JSON.parse(read(file)) as Partial<Manifest>,
  );
  const needed = manifests.flatMap(({ dependencies, devDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith('@logquay/')),
  );
  expect(needed.length).toBeGreaterThan(5);
  const versions = [...manifests.map(({ version }) => version), ...needed.map(([, version]) => version)];
  expect([...new Set(versions)]).toEqual([MANIFEST.version]);
});

it('docs/README.md lists every page', () => {
  const listed = read('docs/README.md');
  const pages = readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(pages.filter((name) => !listed.includes(`](${name})`))).toEqual([]);
});

it('docs/decisions/README.md lists every decision', () => {
  const listed = [...read('docs/decisions/README.md').matchAll(/^\| \[([a-z-]+\.md)\]/gm)].map(([, file]) => file);
  const pages = PAGES.map((page) => /^docs\/decisions\/([a-z].*)$/.exec(page)?.[1]).filter(
    (page) => page !== undefined,
  );
  expect(listed.sort()).toEqual(pages.sort());
});

it('docs/decisions/dependencies.md gives the reason of every dependency', () => {
  const packages = [...read('docs/decisions/dependencies.md').matchAll(/^\| (`[^|]+)\|/gm)].map(
    ([, cell = '']) => cell,
  );
  const listed = packages.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const manifests = FILES.filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file)).map(read);
  const needed = manifests.flatMap((manifest) => {
    const { dependencies, devDependencies } = JSON.parse(manifest) as Partial<Manifest>;
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  expect(listed.sort()).toEqual([...new Set(needed)].filter((name) => !name.startsWith('@logquay/')).sort());
});

it.each(['package-lock.json', 'emulator/package-lock.json'])(
  '%s names the binaries of every platform, without which npm ci refuses it',
  (file) => {
    const { packages } = JSON.parse(read(file)) as Lock;
    const locked = new Set(Object.keys(packages).map((place) => place.replace(/^.*node_modules\//, '')));
    const wanted = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
    expect(wanted.length).toBeGreaterThan(10);
  },
);

it.each(['package-lock.json', 'emulator/package-lock.json'])(
  '%s holds the integrity of every package, and no registry',
  (file) => {
    const entries = Object.entries((JSON.parse(read(file)) as Lock).packages).filter(
      ([place, { link }]) => place.includes('node_modules/') && link !== true,
    );
    const unchecked = entries.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
    expect(unchecked.map(([place, { version }]) => `${place}@${version ?? ''}`)).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  },
);
