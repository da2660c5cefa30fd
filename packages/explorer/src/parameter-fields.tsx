import type { ParameterDescription } from './api';
import { fromField, toField } from './time-range';
import { run } from './run';
import { isList, linesOf, ownParameters, search, setValue, valueOf } from './search';

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
  const fallback = parameter.default as string | number | boolean | undefined;
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
  const choices = type === 'boolean[]' ? ['true', 'false'] : values;
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
  if (type === 'boolean') {
    return (
      <div class="field">
        {label}
        <input
          id={id}
          title={description}
          type="checkbox"
          role="switch"
          checked={(given === '' ? String(fallback) : given) === 'true'}
          onChange={(event) => {
            setValue(name, String(event.currentTarget.checked));
            void run();
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
          {required ? null : (
            <option value="">{fallback === undefined ? 'any' : `${String(fallback)} (default)`}</option>
          )}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      </div>
    );
  }
  if (type === 'timestamp' || type === 'date') return <TimeField parameter={parameter} />;
  const numeric = type === 'integer' || type === 'number';
  return (
    <div class="field">
      {label}
      <input
        id={id}
        title={description}
        type="text"
        inputMode={numeric ? 'decimal' : 'text'}
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

/** An instant, in the zone of the page, or a day. */
function TimeField({ parameter }: { readonly parameter: ParameterDescription }) {
  const { name, type, description, required } = parameter;
  const { zone } = search.value;
  const given = valueOf(parameter);
  const at = Date.parse(given);
  const id = `parameter-${name}`;
  return (
    <div class="field">
      <label for={id}>
        {name}
        {type === 'timestamp' ? ` (${zone === 'utc' ? 'UTC' : 'local'})` : ''}
      </label>
      <input
        id={id}
        class="instant"
        title={description}
        type={type === 'date' ? 'date' : 'datetime-local'}
        step={type === 'date' ? undefined : '1'}
        required={required}
        value={type === 'date' ? given : Number.isNaN(at) ? '' : toField(at, zone)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const instant = fromField(value, zone);
          setValue(name, type === 'date' ? value : Number.isNaN(instant) ? '' : new Date(instant).toISOString());
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void run();
        }}
      />
    </div>
  );
}
