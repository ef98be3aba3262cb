// The request that the form of a query makes: what its fields mean, and what each part of it is called.
import {filterOf} from './conditions.js'
import {Fault, line} from './json.js'

/** More results are not kept in the page. */
export const maximumResults = 500
export const usualLimit = 50

/**
 * The request of a form as a map of JSON.
 *
 * @param values The texts of the form: filter, sort, fields, limit, collation, and the number `skip`.
 * @param known The names of the fields, as far as they are known.
 * @throws Fault if the filter can't be read, Error for the others.
 */
export function requestOf({filter, sort, fields, limit, collation, skip}, known = []) {
  const selector = filterOf(filter)
  if (!(selector instanceof Map)) throw new Fault('a filter is an object in braces', 0, filter.length)
  const wanted = new Map([['selector', selector]])
  const terms = sortOf(sort, known)
  if (terms.length) wanted.set('sort', terms)
  const names = list(fields)
  if (names.length) wanted.set('fields', names)
  if (collation) wanted.set('collation', collation)
  if (hasNear(selector)) wanted.set('distance', true)
  wanted.set('limit', Math.min(maximumResults, Math.max(1, Number(limit) || usualLimit)))
  if (skip) wanted.set('skip', skip)
  return wanted
}

/** Whether a selector has a `$near`, so that its results have a distance. */
function hasNear(selector) {
  return [...selector].some(([name, value]) => name === '$and' && Array.isArray(value) ? value.some(member => member instanceof Map && hasNear(member))
    : value instanceof Map && value.has('$near'))
}

export function list(value) { return value.split(',').map(name => name.trim()).filter(Boolean) }

/** `age:desc, name` as a sort. */
function sortOf(value, known) {
  return list(value).map(word => {
    if (!/:(asc|desc)$/.test(word) && !known.includes(word)) {
      const [, sign, field] = /^([-+]?)(.+?)(?::(?:a|de)sc(?:ending)?)?$/i.exec(word)
      if (field !== word) {
        throw new Error(`"${word}" is not a sort; write ${field}${sign === '-' || /:d/i.test(word) ? ':desc' : ''}`)
      }
    }
    return termOf(word)
  })
}

/** `age:desc` as a member of a sort or of an index. */
export function termOf(word) {
  const [, name, direction] = /^(.*?)(?::(asc|desc))?$/.exec(word)
  return new Map([[name, direction ?? 'asc']])
}

/** The names and directions of a sort. */
export function termsOf(wanted) { return (wanted?.get('sort') ?? []).map(term => [...term][0]) }

/** A request for all pages. */
export function unpaged(wanted) { return new Map([...wanted].filter(([name]) => name !== 'limit' && name !== 'skip')) }

/** Whether a request is for all documents as they are, in the order of their ids. */
export function isPlain(wanted) { return line(wanted) === line(new Map([['selector', new Map()], ['limit', usualLimit]])) }
