import type { ParameterDescription } from './api';
import { run } from './run';
import { ownParameters, setValue, valueOf } from './search';

/** The endpoint's own parameters as fields of their types; pinned ones are shown as fixed. */
export function ParameterFields() {
  return (
    <>
      {ownParameters.value.map((parameter) => (
        <ParameterField key={parameter.name} parameter={parameter} />
      ))}
    </>
  );
}

function ParameterField({ parameter }: { readonly parameter: ParameterDescription }) {
  const { name, type, description, required, fixed, values } = parameter;
  const id = `parameter-${name}`;
  if (fixed === true) {
    return (
      <div class="field">
        <span class="label">{name}</span>
        <span class="fixed" title={description}>
          fixed by this key
        </span>
      </div>
    );
  }
  const given = valueOf(parameter);
  const choices = type === 'boolean' ? ['true', 'false'] : values;
  const label = <label for={id}>{name}</label>;
  if (choices !== undefined) {
    return (
      <div class="field">
        {label}
        <select
          id={id}
          title={description}
          value={given}
          onChange={(event) => {
            setValue(name, event.currentTarget.value);
            void run();
          }}
        >
          {required ? null : <option value="">any</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      </div>
    );
  }
  const numeric = type === 'integer' || type === 'number';
  return (
    <div class="field">
      {label}
      <input
        id={id}
        title={description}
        type="text"
        inputMode={numeric ? 'decimal' : 'text'}
        placeholder={type === 'timestamp' ? '2026-09-30T11:00:00Z' : type === 'date' ? '2026-09-30' : ''}
        required={required}
        value={given}
        spellcheck={false}
        onInput={(event) => setValue(name, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void run();
        }}
      />
    </div>
  );
}
