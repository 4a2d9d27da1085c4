"""The front page of the help, set by hand; it fits a screen."""

HELP = """\
knaster: what one line of YAML does to the fleet, before it is merged.

usage: knaster [options] COMMAND [options]

commands:
  validate           check inventory/ and catalog/; plan and render in memory
  placement plan     which role runs on which card, and why
  render             write generated/ from them; --check compares instead
  diff [BASE] [HEAD] what differs for the fleet since BASE, and why
  verify [REV]       whether a commit's generated/ is what its inputs need
  report             the fleet as a page of HTML; --base REV: what changed
  pr plan            what a branch does to the fleet once it is merged
  pr fetch|comment   bring open pull requests here; say on one what it does
  pr sweep           plan all open pull requests again after main moved
  land               render the tip of main and push that as one commit
  inventory collect  read facts off machines into inventory/, or --check them
  model plan MODEL   how a model could run on this fleet; its entry
  bench tts|server|llm   speed of an endpoint or a card, for the catalog
  tofu gate PLAN     may this OpenTofu plan (JSON) be applied; what it does
  init DIR           a repository for another fleet
  explain [CODE]     what a diagnostic means and how to fix it
  completion SHELL   a script that completes knaster in bash, zsh or fish
options, before or after the command:
  -C DIR           the repository to work on (default: this folder)
  --format FORMAT  text, json or markdown (default: text)
  -o FILE          write the result to FILE; - is standard output
  -q, -v           errors only; every detail, and tracebacks of bugs
  --color WHEN     auto, always or never (NO_COLOR is respected)
  -h, --version    help, also of one command; the version
examples:
  knaster validate
  knaster placement plan --without pve46/1
  knaster pr plan --base origin/main
  knaster model plan Qwen/Qwen3-14B --context 16k
  knaster inventory collect --ssh root@pve44 root@pve46 --all
exit status: 0 yes, 1 no (an error, or not up to date), 2 could not tell
"""
