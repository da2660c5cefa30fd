import { mkdir, rename, rm, symlink, truncate, unlink } from 'node:fs/promises';
import path from 'node:path';

import { type Catalogue, type CatalogueOptions, openCatalogue } from '../../src/endpoints/catalogue';
import { CatalogueError } from '../../src/endpoints/settings';
import { check } from '../../src/endpoints/check';

import { QueryFolder, storedQuery, uuid } from './folder';

const folders: QueryFolder[] = [];
const catalogues: Catalogue[] = [];
const logged: string[] = [];

async function folderOf(files: Readonly<Record<string, string>>): Promise<QueryFolder> {
  const folder = await QueryFolder.create(files);
  folders.push(folder);
  return folder;
}

async function open(folder: QueryFolder, options: Partial<CatalogueOptions> = {}): Promise<Catalogue> {
  logged.length = 0;
  const write = (facts: object | string, message?: string) => {
    logged.push(`${message ?? ''} ${JSON.stringify(facts)}`);
  };
  const catalogue = await openCatalogue(folder.path, { log: { info: write, warn: write }, pollEvery: 25, ...options });
  catalogues.push(catalogue);
  return catalogue;
}

afterEach(async () => {
  for (const catalogue of catalogues.splice(0)) catalogue.close();
  for (const folder of folders.splice(0)) await folder.remove();
});

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(holds: () => boolean): Promise<void> {
  const giveUp = Date.now() + 50_000;
  while (!holds()) {
    if (Date.now() > giveUp) throw new Error(`it never came; logged: ${logged.join('\n')}`);
    await later(10);
  }
}

/** More looks than a change needs to settle. */
const settled = () => later(200);
const complaints = () => logged.filter((line) => line.includes('faults'));

describe('at start', () => {
  it('lists the endpoints by name and finds them by id and name', async () => {
    const folder = await folderOf({ 'b.sql': storedQuery(1, 'b'), 'a.sql': storedQuery(0xab, 'a.x'), 'note.txt': 'x' });
    await mkdir(folder.file('folder.sql'));
    await folder.write('.#b.sql', 'lock of an editor');
    const catalogue = await open(folder);
    expect(catalogue.current().map(({ name }) => name)).toEqual(['a.x', 'b']);
    expect(catalogue.find('b')?.id).toBe(uuid(1));
    expect(catalogue.find(uuid(0xab).toUpperCase())?.name).toBe('a.x');
    for (const unknown of ['B', 'a', 'a.x ', uuid(9), uuid(1).replaceAll('-', ''), `{${uuid(1)}}`, '', '__proto__']) {
      expect(catalogue.find(unknown)).toBeNull();
    }
  });

  it('tells every fault of every file', async () => {
    const folder = await folderOf({
      'a.sql': storedQuery(1, 'a'),
      'b.sql': storedQuery(1, 'b'),
      'c.sql': storedQuery(3, 'a', 'max_rows: 0'),
      'd.sql': storedQuery(4, 'd', 'foo: 1', 'SELECT @x'),
      'e.sql': 'SELECT 1',
      'f.sql': storedQuery(1, 'f', '', 'SELECT'),
    });
    const error: unknown = await openCatalogue(folder.path, { log: { info: () => 0, warn: () => 0 } }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(CatalogueError);
    const faults = (error as CatalogueError).faults.map(
      ({ file, line, reason }) => `${path.basename(file)}:${String(line)}: ${reason}`,
    );
    expect(faults).toEqual([
      'c.sql:4: max_rows must be a whole number from 1 to 10000',
      'd.sql:4: unknown setting "foo"',
      'd.sql:6: @x has no declaration under params',
      'e.sql:1: the file must begin with a block comment that holds the settings as YAML',
      expect.stringMatching(/^f\.sql:6: the SQL does not parse/),
      `b.sql:2: the id ${uuid(1)} is already that of a.sql`,
      `f.sql:2: the id ${uuid(1)} is already that of a.sql`,
    ]);
    expect((error as CatalogueError).message).toContain(`${folder.file('c.sql')}:4:1: max_rows`);
  });

  it('tells names used twice, which differ in case from others', async () => {
    const folder = await folderOf({
      'a.sql': storedQuery(1, 'a'),
      'b.sql': storedQuery(2, 'A'),
      'c.sql': storedQuery(3, 'a'),
    });
    await expect(open(folder)).rejects.toThrow(/c\.sql:3:1: the name a is already that of a\.sql$/);
  });

  it('does not go without its folder, but without files', async () => {
    const folder = await folderOf({});
    await expect(openCatalogue(folder.file('none'), { log: { info: () => 0, warn: () => 0 } })).rejects.toThrow(
      /none:1:1: cannot be read \(ENOENT\)/,
    );
    expect((await open(folder)).current()).toEqual([]);
    expect(logged).toEqual([expect.stringMatching(/^the catalogue is empty/)]);
  });
});

describe('while running', () => {
  it('takes up a change, a new file and a removal', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a') });
    const catalogue = await open(folder);
    const held = catalogue.find('a');
    await folder.write('a.sql', storedQuery(1, 'a', 'max_rows: 5'));
    await until(() => catalogue.find('a')?.maxRows === 5);
    expect(held?.maxRows).toBe(1000);
    expect(catalogue.find('a')?.revision).not.toBe(held?.revision);

    await folder.write('b.sql', storedQuery(2, 'b'));
    await until(() => catalogue.find('b') !== null);
    await unlink(folder.file('a.sql'));
    await until(() => catalogue.find('a') === null);
    expect(catalogue.current().map(({ name }) => name)).toEqual(['b']);
  });

  it('takes up a rename at once with nothing lost between', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a') });
    const catalogue = await open(folder);
    let lost = 0;
    const watcher = setInterval(() => (catalogue.find('a') === null ? lost++ : 0), 1);
    await rename(folder.file('a.sql'), folder.file('b.sql'));
    await settled();
    // An editor that writes beside and renames over.
    await folder.write('b.sql~', storedQuery(1, 'a', 'max_rows: 3'));
    await rename(folder.file('b.sql~'), folder.file('b.sql'));
    await until(() => catalogue.find('a')?.maxRows === 3);
    clearInterval(watcher);
    expect(lost).toBe(0);
    expect(complaints()).toEqual([]);
  });

  it('waits for a file that is being written', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a') });
    const catalogue = await open(folder);
    const text = storedQuery(1, 'a', 'max_rows: 9', 'SELECT 1 AS one FROM t WHERE x > 5');
    for (let written = 0; written < text.length; written += 10) {
      await folder.write('a.sql', text.slice(0, written));
      await later(8);
      expect(catalogue.find('a')?.maxRows).toBe(1000);
    }
    await folder.write('a.sql', text);
    await until(() => catalogue.find('a')?.maxRows === 9);
    expect(catalogue.find('a')?.sql).toBe(text);
  });

  it('follows links, as Kubernetes mounts settings', async () => {
    const folder = await folderOf({});
    await mkdir(folder.file('v1'));
    await mkdir(folder.file('v2'));
    await folder.write('v1/a.sql', storedQuery(1, 'a', 'max_rows: 1'));
    await folder.write('v2/a.sql', storedQuery(1, 'a', 'max_rows: 2'));
    await symlink('v1', folder.file('data'));
    await symlink('data/a.sql', folder.file('a.sql'));
    const catalogue = await open(folder);
    await symlink('v2', folder.file('data2'));
    await rename(folder.file('data2'), folder.file('data'));
    await until(() => catalogue.find('a')?.maxRows === 2);
  });

  it('refuses a newcomer with an id or name that is taken, until it is free', async () => {
    const folder = await folderOf({ 'b.sql': storedQuery(1, 'x'), 'c.sql': storedQuery(2, 'y') });
    const catalogue = await open(folder);
    await folder.write('a.sql', storedQuery(3, 'x'));
    await until(() => complaints().length === 1);
    expect(complaints()[0]).toMatch(/a\.sql:3:1: the name x is already that of b\.sql/);
    await folder.write('c.sql', storedQuery(1, 'y', 'max_rows: 2'));
    await until(() => complaints().length === 2);
    expect(complaints()[1]).toMatch(/c\.sql:2:1: the id \S+ is already that of b\.sql/);
    expect(catalogue.current().map(({ id, name }) => [id, name])).toEqual([
      [uuid(1), 'x'],
      [uuid(2), 'y'],
    ]);
    await unlink(folder.file('b.sql'));
    await until(() => catalogue.find('x')?.id === uuid(3) && catalogue.find('y')?.id === uuid(1));
    expect(complaints()).toHaveLength(2);
  });

  it('stays as it is while the folder is away, and after it is closed', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a') });
    const catalogue = await open(folder);
    await rename(folder.path, `${folder.path}-away`);
    await until(() => logged.some((line) => line.includes('cannot be read')));
    await settled();
    expect(logged).toHaveLength(1);
    expect(catalogue.find('a')).not.toBeNull();
    await rename(`${folder.path}-away`, folder.path);
    await folder.write('a.sql', storedQuery(1, 'a', 'max_rows: 4'));
    await until(() => catalogue.find('a')?.maxRows === 4);
    catalogue.close();
    await truncate(folder.file('a.sql'));
    await settled();
    expect(logged.filter((line) => line.includes('faults'))).toEqual([]);
  });
});

describe('check', () => {
  it('prints a line for each file and fails on a fault', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a'), 'b.sql': storedQuery(2, 'b', 'max_rows: 0') });
    const lines: string[] = [];
    expect(await check(folder.path, (line) => lines.push(line))).toBe(1);
    expect(lines).toEqual([
      `${folder.file('a.sql')}: OK`,
      `${folder.file('b.sql')}:4:1: max_rows must be a whole number from 1 to 10000`,
      '    max_rows: 0',
      '    ^',
    ]);
    await rm(folder.file('b.sql'));
    expect(await check(folder.path, () => 0)).toBe(0);
    await rm(folder.file('a.sql'));
    expect(await check(folder.path, () => 0)).toBe(1);
  });

  it('passes the catalogue of this repository', async () => {
    expect(await check('queries', () => 0)).toBe(0);
  });
});

describe('a folder in which nothing is left', () => {
  const refused = () => logged.filter((line) => line.startsWith('no stored query is left'));

  it('changes nothing, says so once, and counts again when there is something', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a'), 'b.sql': storedQuery(2, 'b') });
    const reported: (string | null)[] = [];
    const write = (facts: object | string, message?: string) => {
      logged.push(`${message ?? ''} ${JSON.stringify(facts)}`);
    };
    logged.length = 0;
    const catalogue = await openCatalogue(folder.path, {
      log: { info: write, warn: write },
      report: (component, fault) => reported.push(`${component}: ${fault ?? 'none'}`),
      pollEvery: 25,
    });
    catalogues.push(catalogue);
    await unlink(folder.file('a.sql'));
    await until(() => catalogue.current().length === 1);
    await unlink(folder.file('b.sql'));
    await until(() => refused().length > 0);
    await settled();
    expect(refused()).toHaveLength(1);
    expect(catalogue.current().map(({ name }) => name)).toEqual(['b']);
    expect(reported.at(-1)).toMatch(/^stored_queries: no stored query is left in the directory/);
    await folder.write('b.sql', storedQuery(2, 'b'));
    await until(() => reported.at(-1) === 'stored_queries: none');
    await folder.write('c.sql', storedQuery(3, 'c'));
    await until(() => catalogue.find('c') !== null);
    await unlink(folder.file('b.sql'));
    await until(() => catalogue.current().length === 1);
  });
});
