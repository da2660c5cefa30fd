import type { ParameterDescription } from './api';
import { run } from './run';
import { isList, linesOf, ownParameters, setValue, valueOf } from './search';

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
  const list = isList(parameter);
  const choices = type.startsWith('boolean') ? ['true', 'false'] : values;
  const label = <label for={id}>{name}</label>;
  if (choices !== undefined && list) {
    const chosen = linesOf(given);
    return (
      <div class="field">
        {label}
        <select
          id={id}
          title={description}
          multiple
          size={Math.min(choices.length, 4)}
          onChange={(event) => {
            setValue(name, Array.from(event.currentTarget.selectedOptions, ({ value }) => value).join('\n'));
            void run();
          }}
        >
          {choices.map((choice) => (
            <option key={choice} value={choice} selected={chosen.includes(choice)}>
              {choice}
            </option>
          ))}
        </select>
      </div>
    );
  }
  if (list) {
    return (
      <div class="field">
        {label}
        <textarea
          id={id}
          title={description}
          rows={Math.min(4, Math.max(2, linesOf(given).length + 1))}
          placeholder="one value a line"
          required={required}
          value={given}
          spellcheck={false}
          onInput={(event) => setValue(name, event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
          }}
        />
      </div>
    );
  }
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
