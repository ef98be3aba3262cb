// The indexes: their sizes and what values they have; made, deleted and built again here.
import {button, bytes, confirmed, count, el, fill, labeled, say, sends, tell, text, visible} from './dom.js'
import {get, getValues, path, post} from './api.js'
import {chart, selectorOf} from './distribution.js'
import {filterOf} from './conditions.js'
import {beginning, line, numberOf} from './json.js'
import {editor} from './editor.js'
import {importFile, takeDrops} from './import.js'
import {watched} from './plan.js'
import {list, termOf} from './request.js'
import {link} from './router.js'

export async function showIndexes({main, store, signal}) {
  takeDrops(signal, file => importFile(file, {store, signal}))
  const [list, names] = [el('div'), new Set()]
  const refresh = async () => {
    let note = null
    const reply = await getValues(path(store, '_index') + '?statistics=true', signal).catch(error => {
      // They can be used without their sizes, which users from whom rules withhold documents do not get.
      if (!['timeout', 'forbidden'].includes(error.error)) throw error
      note = el('p', {class: 'soft'}, error.message)
      return getValues(path(store, '_index'), signal)
    })
    const own = reply.get('indexes').filter(index => index.get('type') !== 'special')
    names.clear()
    for (const index of own) names.add(index.get('name'))
    fill(list, note, own.length ? own.map(index => showIndex(store, index, refresh, signal)) : el('p', {}, 'There are no indexes.'))
  }
  fill(main, el('h1', {}, 'Indexes'), list, newIndex(store, names, refresh, signal))
  await refresh()
}

function showIndex(store, index, refresh, signal) {
  const [name, ddoc, type, def, statistics] = ['name', 'ddoc', 'type', 'def', 'statistics'].map(member => index.get(member))
  const fields = def.get('fields').map(field => [...field][0])
  const named = {name, ddoc}
  const title = visible(ddoc && ddoc !== `_design/${name}` ? `${ddoc} ${name}` : name, 120)
  return el('section', {class: 'card', 'aria-label': title}, el('h2', {}, text(title)),
    el('p', {}, `${type === 'text' ? 'Text' : 'Values'} of `, fields.map(([name, direction], at) => [at ? ', ' : '', el('code', {}, visible(name, 120)), direction === 'desc' ? ' descending' : '']),
      [...def].filter(([setting]) => setting !== 'fields').map(([setting, value]) => described(setting, value)),
      ddoc === null && '; made by an app'),
    statistics && [el('p', {}, `${count(statistics.get('entries'), 'entry', 'entries')}, ${bytes(statistics.get('bytes'))}`),
      statistics.get('fields').map(field => distribution(store, field, def.get('partial_filter_selector')))],
    el('p', {class: 'row edits admins'},
      button('Rebuild', () => building(store, signal, () => post(path(store, '_index', '_rebuild'), named, signal), refresh), {'aria-label': `Rebuild ${title}`}),
      button('Delete', async () => {
        if (!await confirmed('Delete the index?', title)) return
        await post(path(store, '_index', '_delete'), named, signal)
        say(`The index ${title} is deleted.`)
        await refresh()
      }, {class: 'danger', 'aria-label': `Delete ${title}`})))
}

/** A setting of an index, such as `; unique`. */
function described(setting, value) {
  if (setting === 'unique') return value && '; unique'
  const code = el('code', {}, text(typeof value === 'string' ? value : beginning(value, 300), 300))
  const titles = {
    partial_filter_selector: '; only documents that match ', collation: '; collation ', sum: '; counts groups, with sums of ',
    expireAfter: '; documents expire after seconds: ',
  }
  return [titles[setting] ?? `; ${setting} `, code]
}

/** Runs a build, and shows how far it is. */
async function building(store, signal, action, refresh) {
  const progress = el('progress', {'aria-label': 'Progress of the index'})
  const status = document.getElementById('status')
  say('Building the index… ')
  status.append(progress)
  await watched(progress, store, signal, action)
  say('The index is complete.')
  await refresh()
}

/**
 * The values of a field, by a sample. A null can stand for a field that is missing.
 *
 * @param filter The selector of the documents in the index, if they are not all.
 */
function distribution(store, field, filter) {
  const address = condition => {
    if (condition === null) return undefined
    const type = Array.isArray(condition) ? 'array' : condition instanceof Map && !condition.size ? 'object' : null
    const selector = selectorOf(name, type ? new Map([['$type', type]]) : condition)
    return link(store, 'documents', {selector: line(filter ? new Map([['$and', [filter, selector]]]) : selector)})
  }
  const [name, distinct, sample] = ['field', 'distinct', 'sample'].map(member => field.get(member))
  return el('details', {}, el('summary', {}, 'Distribution of ', text(name, 120)),
    el('p', {}, `About ${count(Math.round(numberOf(distinct)), 'distinct value')}. `,
      sample.length > 0 && ['From ', text(line(sample[0]), 80), ' to ', text(line(sample.at(-1)), 80), '.']),
    chart(sample.map(value => [value, 1]), 'Values, by a sample', address))
}

// MARK: New indexes

function newIndex(store, taken, refresh, signal) {
  const known = el('datalist', {id: 'index-fields'})
  const fields = el('input', {list: known.id, required: true, placeholder: 'age:desc, name', spellcheck: 'false'})
  const name = el('input', {placeholder: 'generated', spellcheck: 'false'})
  const type = el('select', {}, el('option', {value: 'json'}, 'values'), el('option', {value: 'text'}, 'text'))
  const unique = el('input', {type: 'checkbox'})
  const filter = editor({label: 'Only documents that match (empty for all)', rows: 1})
  const submit = el('button', {}, 'Make the index')
  get(path(store, '_fields') + '?limit=1000', signal).then(found => fill(known, found.fields.map(({path}) =>
    el('option', {value: path.replaceAll('[]', '')}))), tell)
  return el('form', {
    class: 'edits admins', 'aria-labelledby': 'new-index', onsubmit: sends(submit, async () => {
      // The server would replace it.
      if (taken.has(name.value)) throw new Error(`There is an index with the name "${visible(name.value, 120)}"; delete it first, or choose another name.`)
      const body = new Map([['index', new Map([['fields', list(fields.value).map(termOf)]])], ['type', type.value]])
      if (name.value) body.set('name', name.value)
      if (unique.checked) body.get('index').set('unique', true)
      try {
        if (filter.value.trim()) body.get('index').set('partial_filter_selector', filterOf(filter.value))
      } catch (error) {
        return filter.fail(error)
      }
      await building(store, signal, () => post(path(store, '_index'), line(body), signal), refresh)
      if (unique.checked) say('The index is complete. Documents that have the same values stay; cdtquery conflicts STORE --unique lists them.')
    }),
  }, el('h2', {id: 'new-index'}, 'New index'),
  el('div', {class: 'row'}, labeled('Fields', fields), labeled('Name', name), labeled('Type', type), el('label', {class: 'check'}, unique, 'Unique')),
  filter.element, submit, known)
}
