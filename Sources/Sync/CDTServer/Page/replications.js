// The replications of the server: those that run, and a form that starts one.
import {button, count, el, fill, labeled, say, sends, table, text} from './dom.js'
import {get, post, repeat} from './api.js'

export async function showReplications({main, parameters, signal}) {
  const list = el('div', {'aria-live': 'polite'})
  const input = (value, placeholder) => el('input', {value, placeholder, required: true, spellcheck: 'false', autocomplete: 'off', list: 'replication-stores'})
  const [source, target] = [input(parameters.get('source') ?? '', 'orders'), input('', 'https://user:password@couch.example.com/orders')]
  const [isContinuous, makesTarget] = [el('input', {type: 'checkbox'}), el('input', {type: 'checkbox', checked: true})]
  const names = el('datalist', {id: 'replication-stores'})
  const submit = el('button', {}, 'Start')
  const form = el('form', {
    class: 'edits', onsubmit: sends(submit, async () => {
      const reply = await post('/_replicate', {
        source: source.value.trim(), target: target.value.trim(), continuous: isContinuous.checked, create_target: makesTarget.checked,
      }, signal)
      const {docs_written: written = 0, doc_write_failures: failures = 0} = reply.history?.[0] ?? {}
      say(reply.history ? `Done: ${count(written, 'document')} written${failures ? `, ${count(failures, 'document')} refused` : ''}.` : 'The replication runs.', failures > 0)
    }),
  }, el('p', {class: 'soft'}, 'Copies what the target lacks, with its revisions and attachments. Each end is a store of this server, or the URL of a database of CouchDB.'),
  el('div', {class: 'row places'}, labeled('From', source), labeled('To', target), el('label', {class: 'check'}, isContinuous, 'Continuous'),
    el('label', {class: 'check'}, makesTarget, 'Make the target'), submit), names)
  fill(main, el('h1', {}, 'Replications'), list)
  get('/_dbs_info?readable=true&limit=500', signal).then(infos => fill(names, infos.map(({key}) => el('option', {value: key})))).catch(() => {})
  let known
  await repeat(1000, signal, async () => {
    let tasks
    try {
      tasks = await get('/_active_tasks', signal)
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error
      fill(list, el('p', {}, error.message))
      return false
    }
    if (!form.isConnected) main.append(form)
    const running = tasks.filter(task => task.type === 'replication')
    const rows = running.map(task => [
      task.source, task.target, task.continuous ? 'continuous' : 'once', `${task.changes_pending ?? 'unknown'}`,
      `${task.docs_written ?? 0}`, task.lag_seconds == null ? 'unknown' : `${Math.round(task.lag_seconds)} s`,
    ])
    const key = JSON.stringify(rows)
    if (key === known) return
    known = key
    fill(list, rows.length
      ? table('Replications that run now', ['Source', 'Target', 'Kind', 'Changes to come#', 'Documents written#', 'Behind by#', ''],
        rows.map(([source, target, ...others], at) => [text(source, 200), text(target, 200), ...others,
          // Those of `_replicator` end with their documents.
          !running[at].doc_id && button('Stop', async () => {
            await post('/_replicate', {cancel: true, replication_id: running[at].replication_id}, signal)
            say('The replication is stopped.')
          }, {class: 'edits', 'aria-label': `Stop the replication of ${source} to ${target}`})]))
      : el('p', {}, 'The server runs no replication.'))
  })
}
