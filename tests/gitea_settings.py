"""What a Gitea and a runner are told, for `tests.real_gitea`: templates for ``str.format``."""

SERVER = """\
RUN_MODE = prod
WORK_PATH = {folder}/work
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = {folder}/repositories
DEFAULT_BRANCH = main
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
DOMAIN = 127.0.0.1
ROOT_URL = {url}/
LOCAL_ROOT_URL = {url}/
{static}
APP_DATA_PATH = {folder}/data
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false
[git]
HOME_PATH = {folder}/home
[security]
INSTALL_LOCK = true
SECRET_KEY = {key}
[service]
DISABLE_REGISTRATION = true
ENABLE_NOTIFY_MAIL = false
[session]
PROVIDER = memory
[indexer]
ISSUE_INDEXER_TYPE = db
[mailer]
ENABLED = false
[cron.update_checker]
ENABLED = false
[log]
MODE = console
LEVEL = Info
[actions]
ENABLED = true
DEFAULT_ACTIONS_URL = self
"""
RUNNER = """\
log: {{level: info}}
runner:
  file: {folder}/runner/.runner
  capacity: 1
  timeout: 5m
  fetch_interval: 1s
  fetch_interval_max: 1s
cache: {{enabled: false}}
host: {{workdir_parent: {folder}/runner/host}}
container: {{workdir_parent: {below}/runner/workspace}}
"""
