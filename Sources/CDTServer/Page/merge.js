// Versions of a document side by side, field by field.
import {during, el, text} from './dom.js'
import {areEqual, beginning} from './json.js'

/** The fields of a document: each member that is not an object with members, by its path. */
export function leavesOf(value, path = [], found = new Map()) {
  if (value instanceof Map && (value.size || !path.length)) {
    for (const [name, inner] of value) {
      if (path.length || !name.startsWith('_')) leavesOf(inner, [...path, name], found)
    }
  } else found.set(JSON.stringify(path), {path, value})
  return found
}

/** The paths at which any of some versions differ, as texts, in the order in which they occur. */
export function differences(versions) {
  const fields = versions.map(version => leavesOf(version))
  const all = new Set(fields.flatMap(map => [...map.keys()]))
  return [...all].filter(key => {
    const [first, ...others] = fields.map(map => map.get(key))
    return others.some(other => !first || !other || !areEqual(first.value, other.value))
  })
}

export function pathText(key) { return JSON.parse(key).map(name => /[.\\]/.test(name) ? JSON.stringify(name) : name).join('.') }

export function valueText(field) { return field ? text(beginning(field.value, 400), 600) : el('em', {}, 'absent') }

/**
 * A form in which one version of each differing field is chosen.
 *
 * @param base The version that the others come from, if it is known: a field that only one of them has changed is then chosen.
 */
export function merge(versions, base, save) {
  const fields = versions.map(version => leavesOf(version.value))
  const origin = base && leavesOf(base)
  const keys = differences(versions.map(version => version.value))
  const submit = el('button', {}, 'Save the merged document')
  const rows = keys.map((key, row) => {
    const preferred = origin ? changedIn(fields, origin, key) : 0
    return el('tr', {}, el('th', {scope: 'row'}, text(pathText(key), 120)), fields.map((map, number) =>
      el('td', {}, el('label', {class: 'pick'}, el('input', {
        type: 'radio', name: `field-${row}`, value: number, checked: number === preferred,
        'aria-label': `${pathText(key)} of ${versions[number].title}`,
      }), valueText(map.get(key))))))
  })
  const form = el('form', {
    onsubmit: event => {
      event.preventDefault()
      const chosen = keys.map((key, row) => Number(form.elements[`field-${row}`].value))
      during(submit, () => save(merged(versions[0].value, fields, keys, chosen)))
    },
  }, el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Fields that differ'}, el('table', {},
    el('caption', {}, keys.length ? 'Fields that differ' : 'No field differs'),
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Field'), versions.map(version => el('th', {scope: 'col'}, text(version.title, 60))))),
    el('tbody', {}, rows))), el('p', {class: 'row'}, submit))
  return form
}

/** The version that has changed a field, if only one has; otherwise the first. */
function changedIn(fields, origin, key) {
  const original = origin.get(key)
  const changed = fields.map(map => {
    const field = map.get(key)
    return !field || !original ? field !== original : !areEqual(field.value, original.value)
  })
  return changed.filter(Boolean).length === 1 ? changed.indexOf(true) : 0
}

function merged(first, fields, keys, chosen) {
  const result = copied(first)
  // What goes first, so that a field can take the place of an object.
  for (const [row, key] of keys.entries()) {
    if (!fields[chosen[row]].has(key)) remove(result, JSON.parse(key))
  }
  for (const [row, key] of keys.entries()) {
    const field = fields[chosen[row]].get(key)
    if (field) put(result, field.path, field.value)
  }
  result.delete('_revisions')
  return result
}

function copied(value) {
  return value instanceof Map ? new Map([...value].map(([name, inner]) => [name, copied(inner)])) : value
}

function remove(document, path) {
  const inner = path.slice(0, -1).reduce((inside, name) => inside instanceof Map ? inside.get(name) : undefined, document)
  if (inner instanceof Map) inner.delete(path.at(-1))
}

function put(document, path, value) {
  let inner = document
  for (const name of path.slice(0, -1)) {
    if (!(inner.get(name) instanceof Map)) inner.set(name, new Map())
    inner = inner.get(name)
  }
  inner.set(path.at(-1), copied(value))
}
