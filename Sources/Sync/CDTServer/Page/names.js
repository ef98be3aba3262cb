// The names of the fields of a store: those that a query has misspelled, and the ones that are meant.
import {get, path} from './api.js'

/** The fields of the first documents, those that are arrays, the operators of selectors, the texts that are values of fields, and the summary of these documents. */
export async function namesOf(store, signal) {
  const {fields, operators, documents} = await get(path(store, '_fields') + '?limit=1000', signal)
  const paths = fields.map(field => field.path)
  const arrays = new Set(paths.filter(path => path.includes('[]')).map(path => path.slice(0, path.indexOf('[]'))))
  const values = new Map(fields.map(({path, counts, examples}) => [path.replaceAll('[]', ''), (counts?.map(([value]) => value) ?? examples).filter(value => typeof value === 'string')]))
  return {fields: ['_id', '_rev', ...new Set(paths.map(path => path.replaceAll('[]', '')))], arrays: [...arrays], operators, values, summary: fields, documents}
}

/** Whether a field is known, or one in it, or one that it is in and whose members are not known; also if no fields are known at all. */
export function isKnown(name, fields) {
  // A number is the place of an element.
  const plain = name.replace(/\.\d+(?=\.|$)/g, '')
  const isIn = (inner, outer) => inner.startsWith(`${outer}.`)
  return plain.startsWith('_') || fields.length <= 2 || fields.some(other => other === plain || isIn(other, plain)
    || isIn(plain, other) && !fields.some(third => isIn(third, other)))
}

/** The fields that a selector names, each with the path of its name in the text. */
export function fieldsOf(selector, names = [], place = [], prefix = '') {
  if (Array.isArray(selector)) selector.forEach((inner, at) => fieldsOf(inner, names, [...place, at], prefix))
  if (!(selector instanceof Map)) return names
  for (const [name, inner] of selector) {
    const there = [...place, name]
    if (!name.startsWith('$')) {
      names.push({name: prefix + name, place: there, prefix})
      fieldsOf(inner instanceof Map ? inner : null, names, there, `${prefix}${name}.`)
    } else if (['$and', '$or', '$nor', '$not', '$elemMatch', '$allMatch'].includes(name)) fieldsOf(inner, names, there, prefix)
  }
  return names
}

/** The known field that is meant by a name: one that ends in it, or differs by few letters. */
export function nearest(name, fields) {
  const ending = fields.find(field => field.endsWith(`.${name}`))
  if (ending) return ending
  const close = fields.map(field => ({field, distance: distance(name.toLowerCase(), field.toLowerCase())}))
    .sort((a, b) => a.distance - b.distance)[0]
  return close && close.distance <= Math.max(1, Math.floor(name.length / 3)) ? close.field : undefined
}

/** The number of letters that are inserted, deleted, replaced, or exchanged with the next one. */
function distance(left, right) {
  if (Math.abs(left.length - right.length) > 8 || left.length > 100) return Infinity
  const rows = [Array.from({length: right.length + 1}, (_, at) => at)]
  for (let i = 1; i <= left.length; i++) {
    rows[i] = [i]
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1]
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1)
      }
    }
  }
  return rows[left.length][right.length]
}
