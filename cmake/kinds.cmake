# Lists the models, kinds of data and optimizers. Each word is the name of the files of one of them. The part that the
# coordinator links as well is in one folder, and what only trainers need in another, so the lists are here.
set(REKINDLE_MODELS gpt gpt2 mlp resnet)
set(REKINDLE_DATA_KINDS images table text tokens)
set(REKINDLE_OPTIMIZERS adamw lion muon sgd)

# rk_kind_sources(out prefix word...) sets `out` to PREFIXWORD.cc for each word that has such a file in this folder.
function(rk_kind_sources out prefix)
  set(sources)
  foreach(word ${ARGN})
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${prefix}${word}.cc")
      list(APPEND sources ${prefix}${word}.cc)
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
