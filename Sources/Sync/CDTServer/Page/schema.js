// The fields that occur: in how many documents, of which types, with which values. A click opens the query for what is pressed.
import {button, count, el, fill, say, text, visible} from './dom.js'
import {getValues, path, post} from './api.js'
import {beginning, line} from './json.js'
import {namesInPath} from './grid.js'
import {chart, conditionOf, numberOf, selectorOf} from './distribution.js'
import {link, returnToPlace} from './router.js'

/** Of a larger store, so many documents are read at first. */
const firstDocuments = 20_000

export async function showSchema({main, store, parameters, signal}) {
  const list = el('div', {id: 'schema'})
  const note = el('p', {role: 'status'}, 'Reading the documents…')
  fill(main, el('div', {class: 'row'}, el('h1', {}, 'Schema'), note), list)
  const isWhole = parameters.has('all')
  const info = await getValues(path(store), signal)
  const isLarge = !isWhole && numberOf(info.get('doc_count')) > firstDocuments
  const summary = await getValues(path(store, '_fields') + `?statistics=true${isLarge ? `&limit=${firstDocuments}` : ''}`, signal)
  const [documents, fields, omitted] = ['documents', 'fields', 'omittedFields'].map(name => summary.get(name))
  fill(note, isLarge ? `The first ${documents.toLocaleString('en')} documents that were found. ` : `${count(documents, 'document')}, ${count(fields.length, 'field')}`,
    isLarge && el('a', {href: link(store, 'schema', {all: '1'})}, `Read all ${numberOf(info.get('doc_count')).toLocaleString('en')}`),
    omitted > 0 && `; about ${count(omitted, 'other field')}`)
  const proposed = new Map(summary.get('indexes').map(index => [index.get('field'), index.get('reason')]))
  fill(list, fields.length ? fields.map(field => showField(store, field, documents, proposed)) : el('p', {}, 'No document has a field.'))
  returnToPlace()
}

const percent = (part, whole) => part && part < whole / 100 ? '< 1 %' : `${Math.floor(part / whole * 100)} %`

function showField(store, field, documents, proposed) {
  const [place, inDocuments, types, distinct, isExact, examples, counts, sample] =
    ['path', 'documents', 'types', 'distinct', 'isDistinctExact', 'examples', 'counts', 'sample'].map(name => field.get(name))
  const name = place.replaceAll('[]', '')
  const values = [...types.values()].reduce((sum, count) => sum + count, 0)
  // A query can't name a field without a name.
  const address = condition => namesInPath(name).includes('') ? undefined : link(store, 'documents', {selector: line(selectorOf(place, condition))})
  const query = (label, condition) => address(condition) ? el('a', {href: address(condition)}, label) : el('span', {}, label)
  // Where all are of one type, the query for it would find every document.
  const typesOf = [...types].sort((a, b) => b[1] - a[1]).map(([type, number]) => types.size > 1
    ? el('span', {}, query(`${type} ${percent(number, values)}`, new Map([['$type', type]]))) : el('span', {}, type))
  const shares = distinct > 0 ? chart(counts ?? sample.map(value => [value, 1]), counts ? 'Values' : 'Values, by a sample', address) : null
  const missing = documents - inDocuments
  const absent = `${percent(missing, documents)} have none`
  const proposal = proposed.has(name) && el('p', {class: 'facts edits admins'}, button('Make an index', async () => {
    await post(path(store, '_index'), {index: {fields: [name]}})
    fill(proposal, el('span', {tabindex: '-1'}, 'Indexed.')).firstChild.focus()
    say('The index is made.')
  }, {'aria-label': `Make an index on ${visible(name, 60)}`}), `It may help: ${proposed.get(name).split(';')[0]}.`)
  // An array and its elements have the same index.
  proposed.delete(name)
  const [, outer, last] = /^((?:.*[^\\]\.)?)(.*)$/s.exec(place)
  return el('section', {class: 'field', 'aria-label': visible(place, 120)},
    el('div', {}, el('h2', {}, outer && el('span', {class: 'soft'}, text(outer, 100)), text(last || '""', 100)),
      el('p', {class: 'facts'}, typesOf, distinct > 0 && el('span', {}, `${isExact ? '' : 'about '}${count(distinct, 'distinct value')}`),
        missing > 0 && el('span', {}, place.includes('[]') ? absent : query(absent, new Map([['$exists', false]])))), proposal),
    el('div', {}, shares && !counts && el('p', {class: 'soft'}, `Shares of ${sample.length} values that were chosen at random`), distinct > 0 && (shares
      ?? el('p', {class: 'facts'}, examples.map(value => query(text(beginning(value, 60), 80), conditionOf(value)))))))
}
