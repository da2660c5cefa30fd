/** The container files and the npm package, held to the code; what they would run is run here, without a container. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { parse } from 'yaml';

import { readConfig, SETTINGS } from '../../src/config';
import { localBigQueryInstalled } from '../local-bigquery';
import { Stage } from './started';

jest.setTimeout(180_000);

const ROOT = path.join(__dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

function instructionsOf(dockerfile: string): Instruction[] {
  const lines = read(dockerfile)
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

/** What the last stage runs with. */
function valuesOf(instructions: readonly Instruction[], word: string): string[] {
  return instructions.filter((one) => one.word === word).map(({ rest }) => rest);
}

describe.each([
  ['Dockerfile', '.dockerignore'],
  ['emulator/Dockerfile', 'emulator/Dockerfile.dockerignore'],
])('%s', (dockerfile, ignore) => {
  const instructions = instructionsOf(dockerfile);
  const ignored = read(ignore).trim().split('\n');

  it('copies files that there are, and that its .dockerignore lets through', () => {
    const sources = valuesOf(instructions, 'COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect([source, existsSync(path.join(ROOT, source))]).toEqual([source, true]);
      const allowed = ignored.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
      expect(allowed.some((path) => source === path || source.startsWith(`${path}/`))).toBe(true);
      expect(ignored).not.toContain(source);
    }
    expect(ignored[0]).toBe('*');
  });
});

(localBigQueryInstalled ? describe : describe.skip)('the image of the local BigQuery', () => {
  it('has all that its program loads', async () => {
    // As its COPY instructions lay it out: what only the checkout has is not found from here.
    const folder = mkdtempSync(path.join(tmpdir(), 'logquay-image-'));
    let workdir = folder;
    for (const { word, rest } of instructionsOf('emulator/Dockerfile')) {
      if (word === 'WORKDIR') workdir = path.join(folder, rest);
      if (word === 'RUN') symlinkSync(path.join(ROOT, 'emulator/node_modules'), path.join(workdir, 'node_modules'));
      if (word !== 'COPY') continue;
      const [target = '', ...sources] = rest.split(' ').reverse();
      for (const source of sources) {
        const base = path.isAbsolute(target) ? folder : workdir;
        const place = path.join(base, target, target.endsWith('/') ? path.basename(source) : '');
        cpSync(path.join(ROOT, source), place, { recursive: true });
      }
    }
    try {
      const program = spawn(process.execPath, ['start.js', '--port', '0', '--tied', '--eager'], { cwd: workdir });
      let said = '';
      for (const output of [program.stdout, program.stderr]) output.on('data', (data) => (said += String(data)));
      program.stdout.once('data', () => program.stdin.end());
      await once(program, 'close');
      expect(said).toMatch(/^Local BigQuery on http:/);
      expect(program.exitCode).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the image of the service', () => {
  const instructions = instructionsOf('Dockerfile');

  it('sets settings that there are, and listens where it says', () => {
    const set = Object.fromEntries(
      valuesOf(instructions, 'ENV').flatMap((rest) =>
        rest.split(' ').map((pair) => pair.split('=') as [string, string]),
      ),
    );
    expect(set).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' });
    const config = readConfig(set);
    expect([config.host, valuesOf(instructions, 'EXPOSE')]).toEqual(['0.0.0.0', [String(config.port)]]);
  });

  it('has a health check that tells whether the service answers', async () => {
    const check = JSON.parse(/CMD (.*)$/.exec(valuesOf(instructions, 'HEALTHCHECK')[0] ?? '')?.[1] ?? '') as string[];
    // Debian's own.
    expect(check.slice(0, 2)).toEqual(['bash', '-c']);
    const stage = new Stage();
    try {
      const service = stage.start({ API_KEY: 'k' });
      const { port } = new URL(await service.base());
      const ask = () => promisify(execFile)('bash', check.slice(1), { env: { ...process.env, PORT: port } });
      await expect(ask()).resolves.toMatchObject({ stdout: '' });
      service.signal('SIGTERM');
      await service.exit;
      await expect(ask()).rejects.toMatchObject({ code: 1 });
    } finally {
      await stage.end();
    }
  });
});

describe('the package for npm install --global', () => {
  it('has all of this repository that its program loads', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'logquay-package-'));
    try {
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, [path.join(ROOT, 'scripts/pack.js')], { cwd: folder });
      await run('tar', ['xzf', stdout.trim()], { cwd: folder });
      const modules = path.join(folder, 'package/node_modules');
      const { dependencies, bundleDependencies, bin } = JSON.parse(
        readFileSync(path.join(folder, 'package/package.json'), 'utf8'),
      ) as Record<'dependencies' | 'bin', Record<string, string>> & { readonly bundleDependencies: readonly string[] };
      // What npm would fetch is taken from the checkout.
      for (const name of Object.keys(dependencies).filter((one) => !bundleDependencies.includes(one))) {
        mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
        symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
      }
      const program = path.join(folder, 'package', bin['logquay'] ?? '');
      const line = ['run', 'usage.api-requests-count', '--param', 'project=default'];
      const cwd = path.join(folder, 'package');
      const { stdout: rows } = await run(process.execPath, [program, ...line], {
        cwd,
        env: { PATH: process.env.PATH },
      });
      expect(JSON.parse(rows)).toMatchObject({ result: [{ count: expect.any(Number) as unknown }] });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

interface ComposeService {
  readonly image?: string;
  readonly build?: string | { readonly dockerfile: string };
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly stop_grace_period?: string;
}

describe('docker-compose.yml', () => {
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };
  const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway'));

  it.each(gateways)('%s has settings that the service takes', (_, service) => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [
        name,
        value.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
      ]),
    );
    expect(Object.keys(environment).filter((name) => !(name in SETTINGS))).toEqual([]);
    const config = readConfig({ HOST: '0.0.0.0', ...environment });
    expect(config.warnings).toEqual([]);
    expect(config.engine).toBe(environment['ENGINE']);
    // Hosts are services, started before, on the ports that these listen on.
    const urls = [config.redis?.url.reveal(), config.bigquery?.emulator].filter((url) => typeof url === 'string');
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls) {
      const { hostname, port } = new URL(url);
      expect(service.depends_on?.[hostname]).toEqual({ condition: 'service_healthy' });
      expect({ redis: '6379', bigquery: '9050' }[hostname]).toBe(port);
    }
    const [published = ''] = service.ports ?? [];
    expect(published).toMatch(new RegExp(`^127\\.0\\.0\\.1:\\d+:${String(config.port)}$`));
  });

  it.each(gateways)('%s writes to .data alone and may drain', (_, service) => {
    expect(service.read_only).toBe(true);
    expect(service.tmpfs?.map((mount) => mount.split(':')[0])).toEqual(['/app/.data']);
    const { drainDelay, queryTimeout } = readConfig({});
    expect(Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1]) * 1000).toBeGreaterThan(
      drainDelay + queryTimeout,
    );
  });
});
