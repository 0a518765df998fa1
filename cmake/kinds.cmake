# Lists the models, kinds of data and optimizers. Each word in a list is the name of the files of one kind. For each
# kind, the part that the coordinator links as well is in one folder, and what only trainers need is in another, so the
# lists are here.
set(REKINDLE_MODELS gpt gpt2 mlp resnet)
set(REKINDLE_DATA_KINDS images table text tokens)
set(REKINDLE_OPTIMIZERS adamw lion muon sgd)

# rk_kind_sources(out prefix word...) sets `out` to the PREFIXWORD.cc of each word for which the current folder has such
# a file.
function(rk_kind_sources out prefix)
  set(sources)
  foreach(word ${ARGN})
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${prefix}${word}.cc")
      list(APPEND sources ${prefix}${word}.cc)
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
