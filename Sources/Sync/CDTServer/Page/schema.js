// The fields that occur, a line for each: in how many documents, of which types, with which values. A click opens the query for what is pressed.
import {bar, button, count, el, fill, say, text, visible} from './dom.js'
import {getValues, path, post} from './api.js'
import {beginning, line, numberOf} from './json.js'
import {namesInPath} from './grid.js'
import {chart, chip, conditionOf, digest, percent, selectorOf} from './distribution.js'
import {importFile, takeDrops} from './import.js'
import {link, returnToPlace} from './router.js'

/** Of a larger store, so many documents are read at first. */
const firstDocuments = 20_000
/** So many values are in the line of a field. */
const shownValues = 6

export async function showSchema({main, store, parameters, signal}) {
  takeDrops(signal, file => importFile(file, {store, signal}))
  const list = el('div', {id: 'schema'})
  const note = el('p', {role: 'status', class: 'soft'}, 'Reading the documents…')
  fill(main, el('div', {class: 'row'}, el('h1', {}, 'Schema'), note), list)
  const isWhole = parameters.has('all')
  const info = await getValues(path(store), signal)
  const isLarge = !isWhole && numberOf(info.get('doc_count')) > firstDocuments
  const summary = await getValues(path(store, '_fields') + `?statistics=true${isLarge ? `&limit=${firstDocuments}` : ''}`, signal)
  const [documents, fields, omitted] = ['documents', 'fields', 'omittedFields'].map(name => summary.get(name))
  const number = count(fields.length, 'field')
  fill(note, isLarge ? `${number} of the first ${documents.toLocaleString('en')} documents that were found. ` : `${count(documents, 'document')}, ${number}`,
    isLarge && el('a', {href: link(store, 'schema', {all: '1'})}, `Read all ${numberOf(info.get('doc_count')).toLocaleString('en')}`),
    omitted > 0 && `; about ${count(omitted, 'other field')}`)
  const proposed = new Map(summary.get('indexes').map(index => [index.get('field'), index.get('reason')]))
  fill(list, fields.length ? [el('p', {class: 'line', 'aria-hidden': 'true'}, ['Field', 'Type', 'In documents', 'Distinct', 'Values'].map(title => el('span', {}, title))),
    el('ul', {'aria-label': 'Fields'}, fields.map(field => showField(store, field, documents, proposed)))] : el('p', {}, 'No document has a field.'))
  returnToPlace()
}

function showField(store, field, documents, proposed) {
  const [place, inDocuments, types, distinct, isExact, examples, counts, sample] =
    ['path', 'documents', 'types', 'distinct', 'isDistinctExact', 'examples', 'counts', 'sample'].map(name => field.get(name))
  const name = place.replaceAll('[]', '')
  const all = [...types.values()].reduce((sum, count) => sum + count, 0)
  // A query can't name a field without a name.
  const address = condition => namesInPath(name).includes('') ? undefined : link(store, 'documents', {selector: line(selectorOf(place, condition))})
  const query = (label, condition) => address(condition) ? el('a', {href: address(condition)}, label) : el('span', {}, label)
  const values = distinct > 0 && (counts ?? sample.map(value => [value, 1]))
  // Where all are of one type, the query for it would find every document.
  const typesOf = [...types].sort((a, b) => b[1] - a[1]).map(([type, number]) =>
    types.size > 1 ? chip(type, query(`${type} ${percent(number / all)}`, new Map([['$type', type]]))) : chip(type))
  const reason = proposed.get(name)
  // An array and its elements have the same index.
  proposed.delete(name)
  const [, outer, last] = /^((?:.*[^\\]\.)?)(.*)$/s.exec(place)
  const opened = el('div', {class: 'opened', hidden: true})
  const toggle = el('button', {type: 'button', 'aria-expanded': 'false'}, outer && el('span', {class: 'soft'}, text(outer, 100)), text(last || '""', 100))
  const inline = el('span', {class: 'values'}, values && inlineOf(values, counts, examples, query))
  // Hovering shows the values that do not fit.
  inline.title = visible(inline.textContent, 600)
  return el('li', {class: 'field', 'aria-label': visible(place, 120), onclick: event => {
    // Nor when a text is selected with the mouse.
    if (event.target.closest('a, .opened') || !toggle.contains(event.target) && getSelection().type === 'Range') return
    if (!opened.hasChildNodes()) fill(opened, detailsOf())
    opened.hidden = !opened.hidden
    toggle.setAttribute('aria-expanded', !opened.hidden)
  }},
  el('div', {class: 'line'},
    el('h2', {title: visible(place)}, toggle), el('span', {class: 'types', title: [...types.keys()].join(', ')}, typesOf),
    el('span', {class: 'share', title: `${inDocuments.toLocaleString('en')} of ${count(documents, 'document')}`},
      el('span', {class: 'whole', 'aria-hidden': 'true'}, bar(inDocuments / documents)), el('span', {}, percent(inDocuments / documents), el('span', {class: 'hidden'}, ' of the documents'))),
    el('span', {class: 'soft'}, distinct > 0 && (isExact ? count(distinct, 'value') : `about ${distinct.toLocaleString('en')}`)), inline),
  opened)

  function detailsOf() {
    const missing = documents - inDocuments
    const absent = `${missing.toLocaleString('en')} without it, ${percent(missing / documents)}`
    const proposal = reason && el('p', {class: 'facts edits admins'}, button('Make an index', async () => {
      await post(path(store, '_index'), {index: {fields: [name]}})
      fill(proposal, el('span', {tabindex: '-1'}, 'Indexed.')).firstChild.focus()
      say('The index is made.')
    }, {'aria-label': `Make an index on ${visible(name, 60)}`}), `It may help: ${reason.split(';')[0]}.`)
    const shares = values && chart(values, counts ? 'Values' : 'Values, by a sample', address, Boolean(counts))
    return [el('div', {}, el('p', {}, `In ${inDocuments.toLocaleString('en')} of ${count(documents, 'document')}`,
      missing > 0 && ['; ', place.includes('[]') ? absent : query(absent, new Map([['$exists', false]]))], '.'),
    distinct > 0 && el('p', {}, `${isExact ? '' : 'About '}${count(distinct, 'distinct value')}`, shares && !counts && `; the shares are those of a sample of ${sample.length}`, '.'), proposal),
    shares ?? (values && el('p', {class: 'facts'}, 'Such as ', examples.map(value => query(text(beginning(value, 60), 80), conditionOf(value)))))]
  }
}

/** The values in the line of a field: the frequent ones with their shares, a small chart with its ends, or examples. */
function inlineOf(values, counts, examples, query) {
  const {spread, frequent} = digest(values)
  if (spread) {
    const most = Math.max(...spread.map(({count}) => count))
    const chart = el('span', {class: 'spark', 'aria-hidden': 'true'}, spread.map(({count}) => {
      const column = el('span')
      column.style.height = `${count / most * 100}%`
      return column
    }))
    return [chart, el('span', {class: 'soft'}, `${counts ? '' : 'about '}${spread[0].from} to ${spread.at(-1).to ?? spread.at(-1).from}`)]
  }
  if (!frequent.length) return examples.map(value => [query(text(beginning(value, 40), 60), conditionOf(value)), ' '])
  return frequent.slice(0, shownValues).map(({label, condition, share}) => [query(text(label, 40), condition), ' ', el('span', {class: 'soft'}, percent(share)), ' '])
}
