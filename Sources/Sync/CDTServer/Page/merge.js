// Versions of a document side by side, field by field.
import {button, bytes, count, el, fill, sends, text, visible} from './dom.js'
import {arrayMerges} from './arrays.js'
import {areEqual, beginning, isSame, shortened} from './json.js'
import {jsonView} from './jsonview.js'

/** The fields of a document: each member that is not an object with members, and each attachment, by its path. */
export function leavesOf(value, path = [], found = new Map()) {
  for (const [name, stub] of path.length ? [] : attachmentsOf(value)) {
    const place = ['_attachments', name]
    const value = new Map(['content_type', 'length', 'digest', 'data'].map(member => [member, stub.get(member) ?? null]))
    found.set(JSON.stringify(place), {path: place, value})
  }
  if (value instanceof Map && (value.size || !path.length)) {
    for (const [name, inner] of value) {
      if (path.length || !name.startsWith('_')) leavesOf(inner, [...path, name], found)
    }
  } else found.set(JSON.stringify(path), {path, value})
  return found
}

/** The attachments of a document, as its member has them. */
export function attachmentsOf(value) {
  return new Map([...value?.get?.('_attachments') ?? []].filter(([, stub]) => stub instanceof Map))
}

function isAttachment(path) { return path[0] === '_attachments' }

/** The paths at which any of some versions differ, as texts, in the order in which they occur. */
export function differences(versions) {
  const fields = versions.map(version => leavesOf(version))
  const all = new Set(fields.flatMap(map => [...map.keys()]))
  return [...all].filter(key => {
    const [first, ...others] = fields.map(map => map.get(key))
    return others.some(other => !first || !other || !areEqual(first.value, other.value))
  })
}

export function pathText(key) {
  const path = JSON.parse(key)
  return isAttachment(path) ? `attachment ${path[1]}` : path.map(name => /[.\\]/.test(name) ? JSON.stringify(name) : name).join('.')
}

export function valueText(field) {
  if (!field) return el('em', {}, 'absent')
  if (isAttachment(field.path)) return text(`${field.value.get('content_type')}, ${bytes(field.value.get('length') ?? 0)}`, 200)
  return text(beginning(field.value, 400), 600)
}

/**
 * A form in which one version of each differing field is chosen, or a merge of the arrays there, beside the document that this makes.
 *
 * @param save Called with the merged document without attachments, and with the versions of those that differ.
 * @param base The version that the others come from, if it is known: a field that only one of them has changed is then chosen.
 * @param current The number of the version from which the merged document differs by the marked lines.
 */
export function merge(versions, base, {save, cancel, current = 0}) {
  const values = versions.map(version => version.value)
  const fields = values.map(value => leavesOf(value))
  const keys = differences(values)
  const preferred = chosenFirst(values, base)
  const [origin, contested] = [base?.size > 0 && leavesOf(base), contestedKeys(values, base)]
  const submit = el('button', {}, 'Save the merged document')
  const options = keys.map(key => {
    const found = fields.map(map => map.get(key))
    const arrays = base ? arrayMerges(found.map(field => field?.value), leavesOf(base).get(key)?.value) : []
    return [...found.map((field, number) => ({field, choice: number, title: versions[number].title})), ...arrays.map(({label, value, contested}) => {
      const field = {path: JSON.parse(key), value}
      return {field, choice: field, title: label, note: contested > 0 && `${count(contested, 'value')} of ${versions[0].title}, as several have changed it.`}
    })]
  })
  const pick = (key, row, {field, title, note}, number) => el('label', {class: 'pick'}, el('input', {
    type: 'radio', name: `field-${row}`, value: number, checked: number === preferred[row], 'aria-label': `${pathText(key)} of ${title}`,
  }), el('span', {}, number >= versions.length && el('b', {}, `${title}: `), valueText(field), note && el('span', {class: 'soft'}, ' ', note)))
  const rows = keys.map((key, row) => {
    const kind = contested.has(key) ? 'contested' : ''
    const [cells, arrays] = [options[row].slice(0, versions.length), options[row].slice(versions.length)]
    return [el('tr', {class: kind}, el('th', {scope: 'row'}, text(pathText(key), 120)), origin && el('td', {'data-label': 'Before'}, valueText(origin.get(key))),
      cells.map((option, number) => el('td', {'data-label': option.title}, pick(key, row, option, number)))),
    arrays.length > 0 && el('tr', {class: kind}, el('td'), el('td', {class: 'arrays', colspan: versions.length + (origin ? 1 : 0)},
      arrays.map((option, number) => pick(key, row, option, versions.length + number))))]
  })
  const preview = el('div')
  const summary = el('p', {class: 'soft', role: 'status'})
  const chosen = () => keys.map((key, row) => options[row][Number(form.elements[`field-${row}`].value)].choice)
  const show = () => {
    try {
      const result = merged(values, chosen())
      const before = new Map(values[current])
      for (const name of ['_attachments', '_revisions']) before.delete(name)
      const changed = differences([before, result])
      const left = changed.filter(key => !leavesOf(result).has(key))
      const {title} = versions[current]
      fill(summary, changed.length ? `${count(changed.length, 'field')} ${changed.length === 1 ? 'differs' : 'differ'} from ${title}` : `The same as ${title}`,
        left.length > 0 && [', without ', text(left.map(pathText).join(', '), 200)], '.')
      fill(preview, jsonView(shortened(withoutOwn(result), 2_000), {limit: 50_000, marked: changed.map(key => JSON.parse(key)), 'aria-label': 'The merged document'}))
    } catch (error) {
      fill(summary, error.message)
      fill(preview)
    }
  }
  const form = el('form', {
    class: 'merging', onchange: show,
    onsubmit: sends(submit, () => save(merged(values, chosen()), chosenAttachments(values, chosen()))),
  }, el('p', {class: 'soft'}, versions.map(({title, note}) => note && el('span', {}, titleOf(title), 'written ', note))),
  el('div', {class: 'sides'},
    el('div', {class: 'wide merge', tabindex: '0', role: 'region', 'aria-label': 'Fields that differ'}, el('table', {},
      el('caption', {}, keys.length ? 'Fields that differ' : 'No field differs'),
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Field'), origin && el('th', {scope: 'col'}, 'Before'),
        versions.map(({title}) => el('th', {scope: 'col'}, titleOf(title))))),
      el('tbody', {}, rows.flat().filter(Boolean)))),
    el('section', {}, el('h3', {}, 'Merged document'), summary, preview)),
  el('p', {class: 'row actions'}, submit, button('Cancel', cancel)))
  show()
  return form
}

/** A title with the revision in it, which is not broken. */
function titleOf(title) { return title.split(' ').map(word => [el('bdi', {class: 'revision'}, visible(word)), ' ']) }

function withoutOwn(doc) { return new Map([...doc].filter(([name]) => !name.startsWith('_'))) }

/** The versions that are chosen at first, one for each difference: the first that has changed it. */
export function chosenFirst(values, base) {
  if (!base) return differences(values).map(() => 0)
  const [fields, origin, contested] = [values.map(value => leavesOf(value)), leavesOf(base), contestedPlaces(values, base)]
  return differences(values).map(key => {
    const place = contested.find(({path}) => covers(path, JSON.parse(key)))
    return place ? place.first : Math.max(0, fields.findIndex(map => !isSame(map.get(key)?.value, origin.get(key)?.value)))
  })
}

/** The differences that several versions have changed since the version that they come from, to different values. */
export function contestedKeys(values, base) {
  const contested = base ? contestedPlaces(values, base) : []
  return new Set(differences(values).filter(key => contested.some(({path}) => covers(path, JSON.parse(key)))))
}

/** The places of fields, objects and attachments that several versions have changed to different values, with the first that did. */
function contestedPlaces(values, base) {
  const found = []
  function add(path, values, base) {
    const changed = [...values.keys()].filter(number => !isSame(values[number], base))
    if (!changed.some(number => !isSame(values[number], values[changed[0]]))) return
    const objects = changed.map(number => values[number]).filter(value => value instanceof Map)
    if (objects.length < changed.length || isAttachment(path)) return found.push({path, first: changed[0]})
    for (const name of new Set(objects.flatMap(object => [...object.keys()]))) {
      if (path.length || !name.startsWith('_')) add([...path, name], values.map(value => value?.get?.(name)), base?.get?.(name))
    }
  }
  add([], values, base)
  const origin = leavesOf(base)
  const fields = values.map(value => leavesOf(value))
  for (const key of differences(values)) {
    const path = JSON.parse(key)
    if (isAttachment(path)) add(path, fields.map(map => map.get(key)?.value), origin.get(key)?.value)
  }
  return found
}

function covers(path, other) { return path.every((name, depth) => name === other[depth]) }

/** The numbers of the versions that were chosen for the attachments that differ, by their names. */
function chosenAttachments(values, chosen) {
  const paths = differences(values).map((key, row) => [JSON.parse(key), chosen[row]])
  return new Map(paths.filter(([path]) => isAttachment(path)).map(([path, number]) => [path[1], number]))
}

/**
 * The document with the fields that were chosen, and those that are the same in all versions.
 *
 * @param chosen The number of a version for each of the differences, or a field with another value for it.
 * @throws Error if a field that was chosen is within one that was chosen with a value.
 */
export function merged(values, chosen) {
  const result = copied(values[0])
  result.delete('_attachments')
  const rows = [...differences(values).entries()].filter(([, key]) => !isAttachment(JSON.parse(key)))
  const keys = rows.map(([, key]) => key)
  const fields = values.map(value => leavesOf(value))
  const wanted = rows.map(([row, key]) => typeof chosen[row] === 'number' ? fields[chosen[row]].get(key) : chosen[row])
  // What goes first, so that a field can take the place of an object.
  for (const [row, key] of keys.entries()) if (!wanted[row]) remove(result, JSON.parse(key))
  // An empty object before the members that others have put there.
  for (const {path, value} of wanted.filter(Boolean).sort((a, b) => a.path.length - b.path.length)) put(result, path, value)
  result.delete('_revisions')
  return result
}

function copied(value) {
  return value instanceof Map ? new Map([...value].map(([name, inner]) => [name, copied(inner)])) : value
}

/** Removes a field, and the objects that have no other. */
function remove(document, path) {
  const inner = path.slice(0, -1).reduce((inside, name) => inside instanceof Map ? inside.get(name) : undefined, document)
  if (!(inner instanceof Map) || !inner.delete(path.at(-1))) return
  if (!inner.size && path.length > 1) remove(document, path.slice(0, -1))
}

function put(document, path, value) {
  let inner = document
  for (const [depth, name] of path.slice(0, -1).entries()) {
    if (!inner.has(name)) inner.set(name, new Map())
    inner = inner.get(name)
    if (!(inner instanceof Map)) {
      const field = visible(pathText(JSON.stringify(path.slice(0, depth + 1))))
      throw new Error(`${field} can't be a value and have members; choose the same version for both.`)
    }
  }
  inner.set(path.at(-1), copied(value))
}
