/** The part of Postman's collection format 2.1 that this service writes. */
export type Item = Folder | RequestItem;

export interface Folder {
  readonly name: string;
  readonly description?: string;
  readonly item: readonly Item[];
}

export interface RequestItem {
  readonly name: string;
  readonly request: {
    readonly method: 'GET' | 'POST';
    readonly description?: string;
    readonly auth?: { readonly type: 'noauth' };
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly url: {
      readonly raw: string;
      readonly host: readonly string[];
      readonly path: readonly string[];
      readonly query?: readonly QueryParameter[];
    };
    readonly body?: {
      readonly mode: 'raw';
      readonly raw: string;
      readonly options: { readonly raw: { readonly language: 'json' } };
    };
  };
  readonly event: readonly {
    readonly listen: 'test';
    readonly script: { readonly type: 'text/javascript'; readonly exec: readonly string[] };
  }[];
}

export interface QueryParameter {
  readonly key: string;
  readonly value: string;
  readonly description: string;
  readonly disabled?: boolean;
}

/** An environment of Postman. */
export interface PostmanEnvironment {
  readonly id: string;
  readonly name: string;
  readonly values: readonly { key: string; value: string; type: 'default' | 'secret'; enabled: true }[];
  readonly _postman_variable_scope: 'environment';
}
