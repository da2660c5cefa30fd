/** Types of the engine's protocol, as proto-loader reads it. */

/** A message as plain data: names as in the .proto files, 64-bit integers as text, enums by name. */
export type Message = { readonly [field: string]: unknown };

/** What proto-loader knows of a message. */
export interface MessageDefinition {
  readonly type: {
    readonly field: readonly {
      readonly name: string;
      readonly number: number;
      readonly label: string;
      readonly type: string;
      readonly typeName: string;
    }[];
    readonly oneofDecl: readonly { readonly name: string }[];
  };
  deserialize(bytes: Uint8Array): Message;
}

export type ProtocolDefinition = Readonly<Record<string, MessageDefinition>>;
