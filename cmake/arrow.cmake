# Finds Arrow C++ in the pinned wheel. Two plugins need it: object stores and Parquet. If it is absent, these plugins
# are not built, and opening s3://, gs:// or abfs:// or a Parquet table returns Unimplemented. The wheel has versioned
# libraries only, so they are linked by path.
set(REKINDLE_HAVE_ARROW OFF)
file(GLOB arrow_library "${REKINDLE_WHEELS}/pyarrow/libarrow.so.[0-9]*")
file(GLOB arrow_s3_library "${REKINDLE_WHEELS}/pyarrow/libarrow_s3.so.[0-9]*")
file(GLOB parquet_library "${REKINDLE_WHEELS}/pyarrow/libparquet.so.[0-9]*")
if(REKINDLE_ARROW AND arrow_library AND arrow_s3_library AND parquet_library)
  set(REKINDLE_HAVE_ARROW ON)
  set(arrow_dir "${REKINDLE_WHEELS}/pyarrow")
  add_library(rk_arrow INTERFACE)
  target_include_directories(rk_arrow SYSTEM INTERFACE "${arrow_dir}/include")
  target_link_libraries(rk_arrow INTERFACE "${arrow_s3_library}" "${arrow_library}")
  target_link_options(rk_arrow INTERFACE "-Wl,-rpath,${arrow_dir}")
  add_library(rk_parquet INTERFACE)
  target_include_directories(rk_parquet SYSTEM INTERFACE "${arrow_dir}/include")
  target_link_libraries(rk_parquet INTERFACE "${parquet_library}" "${arrow_library}")
  target_link_options(rk_parquet INTERFACE "-Wl,-rpath,${arrow_dir}")
else()
  message(STATUS "Arrow not found under REKINDLE_WHEELS='${REKINDLE_WHEELS}': "
    "s3://, gs://, abfs:// and Parquet are left out")
endif()
