import { RegisteredCatalogue, type CatalogueDefinition } from './googlesql/catalogue';
import { GoogleSqlEngine, UNAVAILABLE } from './googlesql/engine';
import type { Message } from './googlesql/protocol';
import { EngineRefusal } from './googlesql/rpc';
import { type Resolved } from './googlesql/tree';
import { toProto, type NamedType, type SqlType } from './googlesql/types';

export { type CatalogueDefinition, type CatalogueTable } from './googlesql/catalogue';
export { type Resolved } from './googlesql/tree';

/** Why the analyser refuses a text. */
export interface Refusal {
  readonly message: string;
  /** From 1; null where it names no place. A column counts code points, and a tab reaches to the next multiple of 8 as BigQuery has it. */
  readonly line: number | null;
  readonly column: number | null;
  /** True where the text is no GoogleSQL at all, false where it is and means nothing. */
  readonly syntax: boolean;
}

export type Analysis =
  | { readonly ok: true; readonly tree: Resolved }
  | { readonly ok: false; readonly refusal: Refusal };

export interface AnalyseOptions {
  readonly parameters?: readonly NamedType[];
  /** Types of `?` parameters, in order; with any of them the text has no named ones. */
  readonly positional?: readonly SqlType[];
  /** Types of parameters that are not declared are inferred, as in a dry run; otherwise they are refused. */
  readonly inferParameters?: boolean;
  readonly signal?: AbortSignal;
}

/** How many texts are with the engine at once in `analyseAll`: it answers in parallel, and this side has its own work with each tree. */
const IN_FLIGHT = 4;

/** A catalogue that texts are analysed against. */
export class Analyser {
  private constructor(
    private readonly engine: GoogleSqlEngine,
    private readonly catalogue: RegisteredCatalogue,
    private readonly ownsEngine: boolean,
  ) {}

  /** Starts an engine of its own, which `close` stops. */
  static async start(definition: CatalogueDefinition): Promise<Analyser> {
    const engine = await GoogleSqlEngine.start();
    return new Analyser(engine, new RegisteredCatalogue(engine, definition), true);
  }

  /** Uses an engine that somebody else stops. */
  static over(engine: GoogleSqlEngine, definition: CatalogueDefinition): Analyser {
    return new Analyser(engine, new RegisteredCatalogue(engine, definition), false);
  }

  /** The engine's process. */
  get pid(): number {
    return this.engine.pid;
  }

  /**
   * Resolves one statement of GoogleSQL as BigQuery does.
   * Never rejects for what the text holds; a text that makes the engine die is refused with `syntax: false`.
   */
  async analyse(sql: string, options: AnalyseOptions = {}): Promise<Analysis> {
    for (let attempt = 1; ; attempt++) {
      try {
        const request = {
          options: await analyserOptions(this.engine, options),
          registered_catalog_id: await this.catalogue.reference(),
          sql_statement: sql,
        };
        return { ok: true, tree: await this.engine.analyse(request, options.signal) };
      } catch (error) {
        if (!(error instanceof EngineRefusal) || options.signal?.aborted === true) throw error;
        // Another text may have been the death of the engine.
        if (error.code !== UNAVAILABLE || attempt === 2) return { ok: false, refusal: readRefusal(error.message) };
      }
    }
  }

  /** `analyse` for many texts, some at a time, the answers in the order of the texts. */
  async analyseAll(texts: readonly string[], options: AnalyseOptions = {}): Promise<Analysis[]> {
    const answers: Analysis[] = [];
    let next = 0;
    const worker = async () => {
      for (let i = next++; i < texts.length; i = next++) answers[i] = await this.analyse(texts[i] ?? '', options);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
    return answers;
  }

  /**
   * The refusal of a text that is no GoogleSQL statement; null for one that is, whatever it names. Faster than `analyse`:
   * nothing is resolved.
   */
  async parse(sql: string): Promise<Refusal | null> {
    try {
      await this.engine.call('ExtractTableNamesFromStatement', {
        sql_statement: sql,
        options: await this.engine.language(),
      });
      return null;
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
      return { ...readRefusal(error.message), syntax: true };
    }
  }

  /** Gives the catalogue back to the engine. */
  async release(): Promise<void> {
    await this.catalogue.release();
  }

  /** Gives the catalogue back, and stops the engine where `start` made it. */
  async close(): Promise<void> {
    await this.release();
    if (this.ownsEngine) await this.engine.stop();
  }
}

/** The options that a statement is analysed and evaluated with. */
export async function analyserOptions(engine: GoogleSqlEngine, options: AnalyseOptions): Promise<Message> {
  return {
    language_options: await engine.language(),
    default_timezone: 'UTC',
    parameter_mode: (options.positional ?? []).length > 0 ? 'PARAMETER_POSITIONAL' : 'PARAMETER_NAMED',
    positional_query_parameters: (options.positional ?? []).map(toProto),
    query_parameters: (options.parameters ?? []).map((p) => ({ name: p.name, type: toProto(p.type) })),
    allow_undeclared_parameters: options.inferParameters ?? false,
    parse_location_record_type: 'PARSE_LOCATION_RECORD_CODE_SEARCH',
    error_message_mode: 'ERROR_MESSAGE_ONE_LINE',
    prune_unused_columns: true,
  };
}

/** Takes the place out of the engine's text, `... [at 1:8]`. */
export function readRefusal(text: string): Refusal {
  const at = /\s*\[at (\d+):(\d+)\]\s*$/.exec(text);
  const message = at === null ? text : text.slice(0, at.index);
  return {
    message,
    line: at === null ? null : Number(at[1]),
    column: at === null ? null : Number(at[2]),
    syntax: /^Syntax error/.test(message),
  };
}
