/** The files of docs/deploy/, held to the settings, the image and to each other. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { parse, parseAllDocuments } from 'yaml';

import { readConfig, SETTINGS } from '../../src/config';

const ROOT = path.join(__dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const DOCKERFILE = read('Dockerfile');
const LISTENING = readConfig({}).port;

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number | string };
}

interface Container {
  readonly image: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env?: readonly Variable[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template?: {
      readonly metadata: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: PodSpec;
    };
    readonly volumeClaimTemplates?: readonly Resource[];
  };
}

function resourcesOf(file: string): Resource[] {
  return parseAllDocuments(read(`docs/deploy/${file}`)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Resource;
  });
}

/** What the service makes of a container's variables; a secret stands for itself. */
function configOf({ env = [] }: Container) {
  const set = Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'a-secret-of-32-characters-or-more']));
  expect(Object.keys(set).filter((name) => !(name in SETTINGS))).toEqual([]);
  expect(new Set(env.map(({ name }) => name)).size).toBe(env.length);
  const config = readConfig({ HOST: '0.0.0.0', ...set });
  expect(config.warnings).toEqual([]);
  return config;
}

const isWithin = (file: string, folder: string): boolean => path.resolve('/app', file).startsWith(`${folder}/`);

describe.each(['kubernetes-bigquery.yaml', 'kubernetes-data-dir.yaml', 'cloud-run.yaml'])('docs/deploy/%s', (file) => {
  const resources = resourcesOf(file);
  const runs = resources.filter(({ spec }) => spec?.template !== undefined);
  const [service] = runs.filter(({ metadata }) => metadata.name === 'logquay');
  const pod = service?.spec?.template?.spec;
  const container = pod?.containers[0];
  if (service === undefined || pod === undefined || container === undefined) throw new Error(`${file} runs no service`);
  const onKubernetes = service.kind !== 'Service';

  it('runs the image of this version on its port with settings that it takes', () => {
    expect(container.image).toMatch(new RegExp(`/logquay:${version.replaceAll('.', '\\.')}$`));
    const config = configOf(container);
    expect(config.engine).toBe(file.includes('data-dir') ? 'duckdb' : 'bigquery');
    const ports = container.ports?.map(({ containerPort }) => containerPort);
    expect(ports).toEqual(onKubernetes ? [LISTENING, config.metricsPort] : [LISTENING]);
    expect(DOCKERFILE).toContain(`EXPOSE ${String(LISTENING)}`);
    const scraped = service.spec?.template?.metadata.annotations?.['prometheus.io/port'];
    expect(scraped).toBe(onKubernetes ? String(config.metricsPort) : undefined);
  });

  it('asks /health whether it lives and /ready whether it takes requests', () => {
    const ready = onKubernetes ? container.readinessProbe : container.startupProbe;
    expect(container.livenessProbe?.httpGet?.path).toBe('/health');
    expect(ready?.httpGet?.path).toBe('/ready');
    for (const probe of [container.livenessProbe, ready, container.startupProbe])
      expect(probe?.httpGet?.port).toBe(onKubernetes ? 'http' : LISTENING);
  });

  it('lets it drain', () => {
    const { drainDelay, queryTimeout } = configOf(container);
    if (onKubernetes) {
      expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBe(drainDelay + queryTimeout + 10_000);
    } else {
      expect(drainDelay).toBe(0);
      expect((pod.timeoutSeconds ?? 0) * 1000).toBeGreaterThan(20 * queryTimeout);
    }
  });

  it('finds what it reads and writes in volumes that there are', () => {
    const claims = service.spec?.volumeClaimTemplates ?? [];
    const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
    const mounts = container.volumeMounts ?? [];
    expect(mounts.map(({ name }) => name).sort()).toEqual(volumes.sort());
    const { cacheDir, duckdb, keysFile, keysFileGiven } = configOf(container);
    const written = mounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
    const folders = [cacheDir, ...(duckdb.dataDir === null ? [] : [duckdb.dataDir])];
    if (onKubernetes) for (const folder of folders) expect(written.some((mount) => isWithin(folder, mount))).toBe(true);
    if (keysFileGiven) expect(mounts.some(({ mountPath }) => isWithin(keysFile, mountPath))).toBe(true);
  });

  it('gives it no rights that it does not need', () => {
    if (!onKubernetes) return;
    const user = Number(/^USER (\d+):/m.exec(DOCKERFILE)?.[1]);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, fsGroup: user });
    for (const { spec } of runs)
      for (const { securityContext } of spec?.template?.spec.containers ?? [])
        expect(securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
  });

  it('has replicas that share Redis, or one that has its data', () => {
    if (!onKubernetes) return;
    const { redis } = configOf(container);
    expect([service.kind, service.spec?.replicas, redis !== null]).toEqual(
      file.includes('data-dir') ? ['StatefulSet', 1, false] : ['Deployment', 2, true],
    );
  });

  it('names services, ports and accounts that there are', () => {
    if (!onKubernetes) return;
    const services = resources.filter(({ kind }) => kind === 'Service');
    for (const { spec } of services) {
      const [chosen] = runs.filter((one) => one.spec?.template?.metadata.labels?.['app'] === spec?.selector?.['app']);
      const named = chosen?.spec?.template?.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      for (const { targetPort } of spec?.ports ?? []) expect(named).toContain(targetPort);
    }
    const { redis } = configOf(container);
    if (redis !== null) {
      const { hostname, port } = new URL(redis.url.reveal());
      const [found] = services.filter(({ metadata }) => metadata.name === hostname);
      expect(found?.spec?.ports?.map((one) => String(one.port))).toEqual([port]);
    }
    const account = pod.serviceAccountName;
    const accounts = resources.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
    expect(accounts).toEqual(account === undefined ? [] : [account]);
  });
});

describe('docs/deploy/logquay.service', () => {
  const unit = read('docs/deploy/logquay.service');
  const lines = unit.split('\n').filter((line) => /^\w+=/.test(line));
  const valueOf = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);

  it('starts the service with settings that there are, and lets it drain', () => {
    expect(valueOf('ExecStart')).toMatch(/^\S+\/node \/opt\/logquay\/dist\/cli\.js serve$/);
    const set = (valueOf('Environment') ?? '').split(' ').map((pair) => pair.replace(/=.*/, ''));
    expect(set.filter((name) => !(name in SETTINGS))).toEqual(['NODE_ENV']);
    const { drainDelay, queryTimeout, cacheDir, keysFile } = readConfig({});
    expect(Number(valueOf('TimeoutStopSec')) * 1000).toBe(drainDelay + queryTimeout + 10_000);
    // What is written by default lies below the working directory, which is the one place that may be written.
    expect(valueOf('WorkingDirectory')).toBe(`/var/lib/${valueOf('StateDirectory') ?? ''}`);
    for (const place of [cacheDir, keysFile]) expect(path.isAbsolute(place)).toBe(false);
    expect([valueOf('ProtectSystem'), valueOf('NoNewPrivileges')]).toEqual(['strict', 'yes']);
  });

  it('is what systemd takes, where there is one', () => {
    const analyse = '/usr/bin/systemd-analyze';
    if (!existsSync(analyse)) return;
    const folder = mkdtempSync(path.join(tmpdir(), 'logquay-unit-'));
    try {
      const file = path.join(folder, 'logquay.service');
      writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
      expect(execFileSync(analyse, ['verify', file], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it('docs/deploy/grafana/: the dashboard asks the data source that is provisioned', () => {
  const file = (name: string): string => read(`docs/deploy/grafana/${name}`);
  const { datasources } = parse(file('datasource.yaml')) as {
    readonly datasources: readonly {
      readonly uid: string;
      readonly type: string;
      readonly url: string;
      readonly jsonData: { readonly allowedHosts: readonly string[]; readonly httpHeaderName1: string };
    }[];
  };
  const [source] = datasources;
  expect(source?.jsonData).toMatchObject({ allowedHosts: [source?.url], httpHeaderName1: 'X-API-KEY' });
  expect(new URL(source?.url ?? '').port).toBe(String(LISTENING));
  expect(parse(file('dashboards.yaml'))).toMatchObject({ providers: [{ type: 'file' }] });
  const { panels } = JSON.parse(file('logs-dashboard.json')) as {
    readonly panels: readonly { readonly datasource: object }[];
  };
  for (const { datasource } of panels) expect(datasource).toEqual({ type: source?.type, uid: source?.uid });
});
